"""Mistakes from the wild, made again from their descriptions: each is `Right` with one method done wrong.

MISTAKES: class -> (where it was met, the check that names it).
"""

import numpy as np

from tests.proofs_check.conform.right import Right

MISTAKES = {}


def met(where, check):
    def keep(cls):
        MISTAKES[cls] = (where, check)
        return cls

    return keep


@met("TransformerLens 3.9.0: 2^(-8h/n) for any n", "alibi_slopes.any_head_count")
class SlopesOfTheSentence(Right):
    def alibi_slopes(self, n_heads):
        return 2.0 ** (-8 / n_heads * np.arange(1, n_heads + 1))


@met("ALiBi ports: exponent -8(h - 1)/n, so that the first slope is 1", "alibi_slopes.powers_of_two")
class SlopesFromOne(Right):
    def alibi_slopes(self, n_heads):
        return super().alibi_slopes(n_heads) * 2.0 ** (8 / n_heads)


@met("ALiBi ports: the bias grows with distance", "alibi_bias.falls_with_distance")
class WrongSign(Right):
    def alibi_bias(self, *sizes, mask=None):
        return -super().alibi_bias(*sizes, mask=mask)


@met("vLLM PR #945 in kind: the query stands one place before its own", "alibi_bias.whole")
class OffByOne(Right):
    def alibi_bias(self, n_heads, n_queries, n_keys, mask=None):
        away = abs(self.distance(n_queries, n_keys) + 1)
        found = -self.alibi_slopes(n_heads)[:, None, None] * away
        return found if mask is None else np.broadcast_to(found, (len(mask), *found.shape))


@met("keras-hub #2861, #2977: the bias is zero at each decode step", "alibi_bias.decode")
class NoBiasAtDecode(Right):
    """Positions of the keys are counted among the new tokens alone."""

    def alibi_bias(self, n_heads, n_queries, n_keys, mask=None):
        found = np.zeros((n_heads, n_queries, n_keys))
        found[..., -n_queries:] = super().alibi_bias(n_heads, n_queries, n_queries)
        return found if mask is None else np.broadcast_to(found, (len(mask), *found.shape))


@met("the same, in the attention", "alibi_attention.decode")
class NoBiasInDecodedAttention(NoBiasAtDecode):
    pass


@met("ALiBi in a batch: one row's pads are taken for all rows'", "alibi_bias.left_padding")
class PadsOfTheFirstRow(Right):
    def alibi_bias(self, n_heads, n_queries, n_keys, mask=None):
        found = super().alibi_bias(n_heads, n_queries, n_keys)
        if mask is None:
            return found
        places = np.cumsum(mask[:, ::-1], axis=1)[:, ::-1]  # counts pads of another row as no tokens
        return -self.alibi_slopes(n_heads)[None, :, None, None] * np.broadcast_to(
            places[:1, None, None], (len(mask), n_heads, n_queries, n_keys)
        )


@met("masked_fill whose result is thrown away", "attention.causal")
class MaskThrownAway(Right):
    def attention(self, q, k, v, mask=None, segments=None, window=None):
        logits = self.scores(q, k)
        np.where(self.seen(q, k, mask, segments, window), logits, -np.inf)
        return self.read(logits, v)


@met("a triangle of queries by keys that starts at the first key, in decoding", "attention.decode")
class TriangleFromTheFirstKey(Right):
    def distance(self, n_queries, n_keys):
        return np.arange(n_keys)[None] - np.arange(n_queries)[:, None]


@met("local-attention 1.11.2, GPT-OSS in keras-hub 0.32.0: a window of w and the query's own token", "attention.window")
class WindowOneTooWide(Right):
    def attention(self, q, k, v, mask=None, segments=None, window=None):
        return super().attention(q, k, v, mask, segments, None if window is None else window + 1)


@met("x-transformers 2.31.10: head h reads group h mod groups, an order of its own", "attention.grouped")
class GroupsInterleaved(Right):
    def scores(self, q, k):
        return q @ np.swapaxes(np.tile(k, (1, q.shape[1] // k.shape[1], 1, 1)), 2, 3) / np.sqrt(q.shape[3])


@met("packed documents whose mask is forgotten (marin #5801 in kind)", "attention.packed")
class DocumentsLeak(Right):
    def attention(self, q, k, v, mask=None, segments=None, window=None):
        return super().attention(q, k, v, mask, None, window)


@met("vllm-metal PR #550, unsloth #3142 in kind: a path without sinks", "sink_attention.decode")
class NoSinkAtDecode(Right):
    def sink_attention(self, q, k, v, sinks, **more):
        return self.attention(q, k, v, **more) if q.shape[2] == 1 < k.shape[2] else super().sink_attention(
            q, k, v, sinks, **more)  # fmt: skip


@met("the plain output, scaled by one less the sink's share, whose exponential overflows", "sink_attention.large_sink")
class SinkOverflows(Right):
    def sink_attention(self, q, k, v, sinks, mask=None, segments=None, window=None):
        logits = np.where(self.seen(q, k, mask, segments, window), self.scores(q, k), -np.inf).astype(np.float32)
        with np.errstate(over="ignore", invalid="ignore"):
            beyond = np.exp(sinks.astype(np.float32))[:, None, None]
            share = beyond / (np.exp(logits).sum(-1, keepdims=True) + beyond)
        return self.read(logits, v) * (1 - share)


@met("edge padding for zero padding", "shift.first_token")
class EdgePadding(Right):
    def shift(self, x, weights, state=None, **more):
        edge = np.repeat(x[:, :1], len(weights) - 1, axis=1)
        return super().shift(x, weights, edge if state is None else state, **more)


@met("a return before the shift, for single tokens", "shift.steps")
class ReturnBeforeTheShift(Right):
    def shift(self, x, weights, state=None, **more):
        return (x, x) if x.shape[1] == 1 and state is not None else super().shift(x, weights, state, **more)


@met("chunked prefill that ignores the state of the shift", "shift.chunks")
class StateIgnored(Right):
    def shift(self, x, weights, state=None, **more):
        return super().shift(x, weights, state if x.shape[1] == 1 else None, **more)


@met("Baichuan-M1's published decode in kind: a chunk as long as the last is mixed with it", "shift.chunks")
class EqualChunks(Right):
    def shift(self, x, weights, state=None, **more):
        out, last = super().shift(x, weights, None if state is None else state[:, -(len(weights) - 1) :], **more)
        if state is not None and x.shape[1] > 1 and state.shape[1] == x.shape[1]:
            out = weights[0] * x + weights[1] * state
        return out, x if x.shape[1] > 1 else last


@met("the decode listings of KV shifting attention, Appendix M: the mixed token is kept", "shift.steps")
class MixedTokenKept(Right):
    def shift(self, x, weights, state=None, **more):
        out, _ = super().shift(x, weights, state, **more)
        return out, out[:, out.shape[1] - len(weights) + 1 :]


@met("fla #531, #535, PR #583 in kind: the shift leaks across packed documents", "shift.packed")
class ShiftLeaks(Right):
    def shift(self, x, weights, state=None, segments=None, mask=None):
        return super().shift(x, weights, state, None, mask)


@met("pads are zero in the embedding only, and mixed into the first token", "shift.left_padding")
class PadsShiftedIn(Right):
    def shift(self, x, weights, state=None, segments=None, mask=None):
        return super().shift(x, weights, state, segments, None)


@met("keys rotated before they are shifted", "shifted_keys.order")
class RotatedFirst(Right):
    def shifted_keys(self, keys, weights, positions, base, state=None):
        turned = self.turn(keys, positions, base)
        before = np.zeros_like(keys[:, :, :1]) if state is None else state
        return weights[0] * turned + weights[1] * np.concatenate([before, turned], 2)[:, :, :-1], turned[:, :, -1:]


@met("a cache whose last key is the rotated one", "shifted_keys.steps")
class RotatedKeyKept(Right):
    def shifted_keys(self, keys, weights, positions, base, state=None):
        out, last = super().shifted_keys(keys, weights, positions, base, state)
        return out, self.turn(last, positions[:, -1:], base)


@met("BlaGPT in kind: keys are normed after the shift", "shifted_keys.linear")
class NormAfterTheShift(Right):
    def shifted_keys(self, keys, weights, positions, base, state=None):
        out, last = super().shifted_keys(keys, weights, positions, base, state)
        return out / np.sqrt((out**2).mean(-1, keepdims=True) + 1e-6), last


@met("the other pairs of channels", "rope.angles")
class OtherPairs(Right):
    def turn(self, x, positions, base):
        turned = super().turn(np.concatenate([x[..., ::2], x[..., 1::2]], axis=3), positions, base)
        return np.stack(np.split(turned, 2, axis=3), axis=4).reshape(x.shape)


@met("ports that rotate each decoded token as the first", "rope.offset")
class OffsetLost(Right):
    def rope(self, x, positions, base, dims=None):
        return super().rope(x, positions - positions[:, :1], base, dims)


@met("rotary-embedding-torch 0.9.1 in bfloat16: positions are rounded, from 257 on neighbours are alike", "rope.far")
class AnglesInHalfPrecision(Right):
    def rope(self, x, positions, base, dims=None):
        unit = 2.0 ** np.maximum(0, np.floor(np.log2(np.maximum(positions, 1))) - 7)
        return super().rope(x, np.round(positions / unit) * unit, base, dims)


@met("value residuals with swapped lerp arguments", "value_residual.factors")
class SwappedLerp(Right):
    def value_residual(self, values, own, first):
        return super().value_residual(values, first, own)


@met("configurations without @dataclass that keep their defaults", "value_residual.factors")
class DefaultsKept(Right):
    def value_residual(self, values, own, first):
        return super().value_residual(values, 0.5, 0.5)


@met("halved lambda", "value_residual.factors")
class HalvedLambda(Right):
    def value_residual(self, values, own, first):
        return super().value_residual(values, own, first / 2)


@met("the value handed on is what the layer below read", "value_residual.later_layers")
class HandedOn(Right):
    def value_residual(self, values, own, first):
        found = values[:1]
        for value in values[1:]:
            found.append(own * value + first * found[-1])
        return found


@met("V_1 detached: torch's own, here without a graph", "value_residual.gradient")
class Detached(Right):
    BACKEND = "torch"

    def value_residual(self, values, own, first):
        return [values[0], *(own * v + first * values[0].detach() for v in values[1:])]


@met("RazorAttention ports: mask constant -1e-5 for -1e5", "razor_attention.local_heads")
class SmallMaskConstant(Right):
    def read(self, logits, v, sinks=None):
        causal = np.tri(*logits.shape[2:], k=logits.shape[3] - logits.shape[2], dtype=bool)
        masked = causal & np.isneginf(logits)
        full = self.scores(*self.last) if getattr(self, "last", None) is not None else logits
        return super().read(np.where(masked, full - 1e-5, logits), v, sinks)

    def razor_layer(self, q, k, *more):
        self.last = (q, k)
        return super().razor_layer(q, k, *more)


@met("RazorAttention ports: a finite mask that a large logit beats", "razor_attention.dropped_weigh_nothing")
class MaskConstantOfTen(Right):
    def razor_layer(self, q, k, v, whole, sinks, window, compensation):
        length, group = k.shape[2], q.shape[1] // k.shape[1]
        place = np.arange(length)
        gone = (place >= sinks) & (place < place[:, None] + 1 - window) & ~whole[:, None, None]
        logits = self.scores(q, k) - 10.0 * np.repeat(gone, group, axis=0)
        return self.read(np.where(place <= place[:, None], logits, -np.inf), v)


@met("RazorAttention ports: a return inside the loop over layers", "razor_attention.every_layer")
class ReturnInsideTheLoop(Right):
    def razor_attention(self, q, k, v, whole, *more, **settings):
        chosen = np.zeros_like(whole)
        for layer, row in enumerate(whole):
            chosen[layer] = row
            break
        return super().razor_attention(q, k, v, chosen, *more, **settings)


@met("RazorAttention ports: a crash under grouped queries", "razor_attention.grouped")
class CrashUnderGroups(Right):
    def razor_layer(self, q, k, *more):
        assert (q * k).size  # a product head by head
        return super().razor_layer(q, k, *more)


@met("RazorAttention ports: one retrieval head of a group does not keep it", "razor_attention.whole_heads")
class WholeForgotten(Right):
    def razor_attention(self, q, k, v, whole, *more, **settings):
        return super().razor_attention(q, k, v, np.zeros_like(whole), *more, **settings)


@met("RazorAttention ports: a compensation token without N_d", "razor_attention.compensation")
class TokenCountsOnce(Right):
    def mass(self, count):
        return np.where(count > 0, 0.0, -np.inf)


@met("evicted entries zeroed and still attended to", "evicting_attention.output")
class ZeroedNotMasked(Right):
    def masked(self, q, k, v, sees):
        causal = np.tri(k.shape[2], dtype=bool)
        logits = np.where(sees, self.scores(q, k), 0.0)
        values = np.where(causal, logits, -np.inf)
        weights = np.exp(values - values.max(-1, keepdims=True))
        weights = weights / weights.sum(-1, keepdims=True) * sees
        return weights @ np.repeat(v, q.shape[1] // k.shape[1], axis=1)


@met("a policy that is asked anew over all tokens, so that dropped ones come back", "evicting_attention.gone_for_good")
class ComeBack(Right):
    """Every second step another half of the past is shown."""

    def evicting_attention(self, q, k, v, chunks):
        place = np.arange(k.shape[2])
        sees = (place <= place[:, None]) & ((place % 2 == place[:, None] % 2) | (place > place[:, None] - 3))
        kept = np.broadcast_to(sees, (*k.shape[:3], k.shape[2]))
        return self.masked(q, k, v, np.repeat(kept, q.shape[1] // k.shape[1], axis=1)), kept.copy()


@met("a mask that begins one late, so that a token sees the next", "logits.causal")
class SeesTheNext(Right):
    def logits(self, tokens):
        found = super().logits(tokens)
        found[:, :-1] += 0.1 * self.table[tokens[:, 1:]] @ self.table.T
        return found


@met("x-transformers 2.31.10 with shift_tokens: at each cached step the token before is missing", "decoded.steps")
class NoShiftAtDecode(Right):
    def advance(self, part, state):
        state["last"] = state["last"] * (state["at"] == 0)
        return super().advance(part, state)


@met("local-attention 1.11.2: cached keys are rotated, and rotated again at the next step", "decoded.steps")
class RotatedAgain(Right):
    def advance(self, part, state):
        if state["at"] > 1:
            state["k"] = self.turn(state["k"], np.arange(state["k"].shape[2])[None], 100.0)
        return super().advance(part, state)


@met("mlx-lm 0.32.2, Baichuan-M1: a shorter prompt is padded, and its last raw key is that of a pad", "decoded.ragged")
class StateOfAPad(Right):
    def prompt_read(self, state, prompt, prompts):
        if len(prompt) < max(map(len, prompts)):
            state["last"] = self.table[:1]


@met("a prompt in chunks, whose second one begins as if it were the first", "decoded.chunks")
class ChunksFromZero(Right):
    def advance(self, part, state):
        if len(part) > 1:
            state["last"] = np.zeros((1, 8))
        return super().advance(part, state)
