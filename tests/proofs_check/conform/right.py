"""One right implementation of every subject, in vectorised numpy; planted mistakes replace one method of it each."""

from itertools import accumulate, pairwise

import numpy as np

# A cache of the model before its first token.
START = {"last": np.zeros((1, 8)), "k": np.zeros((1, 1, 0, 8)), "v": np.zeros((1, 1, 0, 8)), "at": 0}


def softmax(logits, sinks=None):
    """Over keys; a row that sees none is zero."""
    sinks = np.reshape(-1e300 if sinks is None else sinks, (-1, 1, 1))
    top = np.maximum(logits.max(-1, keepdims=True), sinks)
    powers = np.exp(logits - top)
    return powers / (powers.sum(-1, keepdims=True) + np.exp(sinks - top))


def spread(x, q):
    """Keys, or what is of them, for each head of the queries."""
    return np.repeat(x, q.shape[1] // x.shape[1], axis=1)


class Right:
    DTYPE = "float64"

    def alibi_slopes(self, n_heads):
        power = 2 ** int(np.log2(n_heads))
        first = 2.0 ** (-8 / power * np.arange(1, power + 1))
        return np.concatenate([first, 2.0 ** (-4 / power * np.arange(1, 2 * power, 2))])[:n_heads]

    def distance(self, n_queries, n_keys):
        return np.arange(n_keys)[None] - np.arange(n_keys - n_queries, n_keys)[:, None]

    def alibi_bias(self, n_heads, n_queries, n_keys, mask=None):
        return self.alibi_slopes(n_heads)[:, None, None] * self.distance(n_queries, n_keys)

    def seen(self, logits, mask=None, segments=None, window=None):
        """The logits, without those of keys that a query does not see."""
        n_queries, n_keys = logits.shape[2:]
        away = -self.distance(n_queries, n_keys)
        found = (away >= 0) & (away < (window or n_keys))
        if mask is not None:
            found = found & mask[:, None, None]
        if segments is not None:
            found = found & (segments[:, n_keys - n_queries :][:, None, :, None] == segments[:, None, None])
        return np.where(found, logits, -np.inf)

    def scores(self, q, k):
        return q @ np.swapaxes(spread(k, q), 2, 3) / np.sqrt(q.shape[3])

    def read(self, logits, v, sinks=None):
        return softmax(logits, sinks) @ spread(v, logits)

    def attention(self, q, k, v, mask=None, segments=None, window=None):
        return self.sink_attention(q, k, v, None, mask, segments, window)

    def alibi_attention(self, q, k, v, mask=None, segments=None, window=None):
        logits = self.scores(q, k) + self.alibi_bias(q.shape[1], q.shape[2], k.shape[2])
        return self.read(self.seen(logits, mask, segments, window), v)

    def sink_attention(self, q, k, v, sinks, mask=None, segments=None, window=None):
        return self.read(self.seen(self.scores(q, k), mask, segments, window), v, sinks)

    def shift(self, x, weights, state=None, segments=None, mask=None):
        """The state is the last raw tokens."""
        back, length = len(weights) - 1, x.shape[1]
        before = np.zeros((len(x), back, x.shape[2])) if state is None else state
        if mask is not None:
            x = x * mask[..., None]
        line = np.concatenate([before, x], axis=1)
        of = np.zeros(line.shape[:2]) if segments is None else np.pad(segments, ((0, 0), (back, 0)), "edge")
        out = 0.0
        for j, weight in enumerate(weights[::-1]):
            out = out + weight * line[:, j : j + length] * (of[:, j : j + length] == of[:, back:])[..., None]
        return out, line[:, length:]

    def turn(self, x, positions, base):
        half = x.shape[3] // 2
        angle = positions[:, None, :, None] * base ** (-np.arange(half) / half)
        turned = (x[..., :half] + 1j * x[..., half:]) * np.exp(1j * angle)
        return np.concatenate([turned.real, turned.imag], axis=3)

    def rope(self, x, positions, base, dims=None):
        dims = dims or x.shape[3]
        return np.concatenate([self.turn(x[..., :dims], positions, base), x[..., dims:]], axis=3)

    def shifted_keys(self, keys, weights, positions, base, state=None):
        """The state is the last raw keys, un-rotated, of every head."""
        mixed, state = self.shift(keys.reshape(-1, *keys.shape[2:]), weights, state)
        return self.turn(mixed.reshape(keys.shape), positions, base), state

    def value_residual(self, values, own, first):
        return [values[0], *(own * v + first * values[0] for v in values[1:])]

    budget = 6

    def evicting_attention(self, q, k, v, chunks):
        """Keeps, of what was there before the chunk, the keys of the largest norms; a chunk sees itself."""
        place = np.arange(k.shape[2])
        held, kept = np.zeros(k.shape[:3], dtype=bool), []
        for start, end in pairwise(accumulate(chunks, initial=0)):
            kept += [held | (start <= place) & (place <= t) for t in range(start, end)]
            held = self.forget(kept[-1], k)
        kept = np.stack(kept, 2)
        return self.masked(q, k, v, kept), kept

    def forget(self, held, k):
        norms = np.where(held, (k**2).sum(3), -np.inf)
        least = np.sort(norms, axis=2)[..., -self.budget, None]
        return held & (norms >= least)

    def masked(self, q, k, v, sees):
        return self.read(np.where(spread(sees, q), self.scores(q, k), -np.inf), v)

    def razor_attention(self, q, k, v, whole, sinks, window, chunks, compensation=False):
        return np.stack([self.razor_layer(*of, sinks, window, compensation) for of in zip(q, k, v, whole, strict=True)])

    def dropped(self, q, k, whole, sinks, window):
        """Which keys each head has dropped, and which are not later than the query."""
        place = np.arange(k.shape[2])
        gone = (place >= sinks) & (place < place[:, None] + 1 - window) & ~whole[:, None, None]
        return spread(gone[None], q)[0], place <= place[:, None]

    def razor_layer(self, q, k, v, whole, sinks, window, compensation):
        gone, causal = self.dropped(q, k, whole, sinks, window)
        wanted = np.where(causal & ~gone, self.scores(q, k), -np.inf)
        if not compensation:
            return self.read(wanted, v)
        return self.with_token(wanted, q, spread(k, q), spread(v, q), gone)

    def with_token(self, wanted, q, k, v, gone):
        """One more key for each query, whose value is the mean of what is gone."""
        count = gone.sum(-1)
        share = gone / np.maximum(count, 1)[..., None]
        mean_key, mean_value = share @ k, share @ v
        with np.errstate(divide="ignore"):
            token = (q * mean_key).sum(-1) / np.sqrt(q.shape[3]) + self.mass(count)
        weights = softmax(np.concatenate([wanted, token[..., None]], axis=3))
        return weights[..., :-1] @ v + weights[..., -1:] * mean_value

    def mass(self, count):
        return np.log(count)

    # A model: embeddings, keys and values shifted, keys rotated, one layer of attention, what it reads added.

    table = np.random.default_rng(5).standard_normal((16, 8))

    def logits(self, tokens):
        return np.stack([self.advance(row, dict(START)) for row in tokens])

    def decoded(self, prompts, steps, chunk=None):
        return np.stack([self.decoded_row(*row, chunk, prompts) for row in zip(prompts, steps, strict=True)])

    def decoded_row(self, prompt, steps, chunk, prompts):
        chunk = chunk or len(prompt)
        state = dict(START)
        for i in range(0, len(prompt), chunk):
            found = self.advance(prompt[i : i + chunk], state)[-1:]
        self.prompt_read(state, prompt, prompts)
        return np.concatenate([found, *(self.advance([token], state) for token in steps)])

    def prompt_read(self, state, prompt, prompts):
        """Nothing is left to do: no row has pads."""

    def advance(self, part, state):
        """The logits after each of these tokens, which the state takes in: the last raw embedding, keys, values."""
        x, at = self.table[np.array(part)], state["at"] + np.arange(len(part))
        mixed = self.shift(x[None], (0.5, 1.5), state["last"][None])[0]
        q, k = self.turn(np.stack([x[None], mixed]), at[None], 100.0)[:, None]
        state["k"], state["v"] = np.concatenate([state["k"], k], 2), np.concatenate([state["v"], mixed[None]], 2)
        state["last"], state["at"] = x[-1:], at[-1] + 1
        return (x + self.attention(q, state["k"], state["v"])[0, 0]) @ self.table.T


class InTorch(Right):
    """What has a gradient."""

    BACKEND = "torch"


class Stateless(Right):
    """Shifts that know no chunks."""

    def shift(self, x, weights, segments=None, mask=None):
        return Right().shift(x, weights, None, segments, mask)[0]

    def shifted_keys(self, keys, weights, positions, base):
        return Right().shifted_keys(keys, weights, positions, base)[0]
