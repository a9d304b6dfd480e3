"""Mistakes from the wild, made again from their descriptions: each is `Right` with one method done wrong.

MISTAKES: class -> (where it was met, the check that names it).
"""

import inspect

import numpy as np

from tests.proofs_check.conform.right import Right, softmax, spread

MISTAKES = {}


def met(where, check, method=None, into=MISTAKES, **settings):
    """Keep a class that has the function below for this method, by default the one that the check is of.

    For `check` may stand a subject, whose checks may all find the mistake."""

    def keep(wrong):
        name = method or check.split(".")[0]
        wrong.__signature__ = inspect.signature(getattr(Right, name))
        into[type(wrong.__name__, (Right,), {name: wrong} | settings)] = (where, check)
        return wrong

    return keep


@met("TransformerLens 3.9.0: 2^(-8h/n) for any n", "alibi_slopes.any_head_count")
def slopes_of_the_sentence(self, n_heads):
    return 2.0 ** (-8 / n_heads * np.arange(1, n_heads + 1))


@met("ALiBi ports: exponent -8(h - 1)/n, so that the first slope is 1", "alibi_slopes.powers_of_two")
def slopes_from_one(self, n_heads):
    return Right.alibi_slopes(self, n_heads) * 2.0 ** (8 / n_heads)


@met("ALiBi ports: the bias grows with distance", "alibi_bias.whole")
def wrong_sign(self, *sizes, mask=None):
    return -Right.alibi_bias(self, *sizes, mask=mask)


@met("vLLM PR #945 in kind: the query stands one place before its own", "alibi_bias.whole")
def off_by_one(self, n_heads, n_queries, n_keys, mask=None):
    return -self.alibi_slopes(n_heads)[:, None, None] * abs(self.distance(n_queries, n_keys) + 1)


@met("the same, in the attention", "alibi_attention.decode", "alibi_bias")
@met("keras-hub #2861, #2977: the bias is zero at each decode step", "alibi_bias.decode")
def no_bias_at_decode(self, n_heads, n_queries, n_keys, mask=None):
    """Positions of the keys are counted among the new tokens alone."""
    found = np.zeros((n_heads, n_queries, n_keys))
    found[..., -n_queries:] = Right.alibi_bias(self, n_heads, n_queries, n_queries)
    return found


@met("ALiBi in a batch: one row's pads are taken for all rows'", "alibi_bias.left_padding")
def pads_of_the_first_row(self, n_heads, n_queries, n_keys, mask=None):
    if mask is None:
        return Right.alibi_bias(self, n_heads, n_queries, n_keys)
    places = np.cumsum(mask[0, ::-1])[::-1]  # counts pads of another row as no tokens
    return -self.alibi_slopes(n_heads)[:, None, None] * np.tile(places, (n_queries, 1))


@met("masked_fill whose result is thrown away", "attention.causal")
def mask_thrown_away(self, q, k, v, **more):
    return self.read(self.scores(q, k), v)


@met("a triangle of queries by keys that starts at the first key, in decoding", "attention.decode", "distance")
def triangle_from_the_first_key(self, n_queries, n_keys):
    return np.arange(n_keys)[None] - np.arange(n_queries)[:, None]


@met("local-attention 1.11.2, GPT-OSS in keras-hub 0.32.0: a window of w and the query's own token", "attention.window")
def window_one_too_wide(self, q, k, v, window=None, **more):
    return Right.attention(self, q, k, v, window=window and window + 1, **more)


@met("x-transformers 2.31.10: head h reads group h mod groups, an order of its own", "attention.grouped", "scores")
def groups_interleaved(self, q, k):
    return q @ np.swapaxes(np.tile(k, (1, q.shape[1] // k.shape[1], 1, 1)), 2, 3) / np.sqrt(q.shape[3])


@met("packed documents whose mask is forgotten (marin #5801 in kind)", "attention.packed")
def documents_leak(self, q, k, v, mask=None, segments=None, window=None):
    return Right.attention(self, q, k, v, mask, None, window)


@met("vllm-metal PR #550, unsloth #3142 in kind: a path without sinks", "sink_attention.decode")
def no_sink_at_decode(self, q, k, v, sinks, **more):
    return Right.sink_attention(self, q, k, v, None if q.shape[2] == 1 < k.shape[2] else sinks, **more)


@met("the plain output, scaled by one less the sink's share, whose exponential overflows", "sink_attention.large_sink")
def sink_overflows(self, q, k, v, sinks, **more):
    logits = self.seen(self.scores(q, k), **more).astype(np.float32)
    with np.errstate(over="ignore", invalid="ignore"):
        beyond = np.exp(sinks.astype(np.float32))[:, None, None]
        share = beyond / (np.exp(logits).sum(-1, keepdims=True) + beyond)
    return self.read(logits, v) * (1 - share)


@met("edge padding for zero padding", "shift.whole")
def edge_padding(self, x, weights, state=None, **more):
    edge = np.repeat(x[:, :1], len(weights) - 1, axis=1)
    return Right.shift(self, x, weights, edge if state is None else state, **more)


@met("a return before the shift, for single tokens", "shift.steps")
def return_before_the_shift(self, x, weights, state=None, **more):
    return (x, x) if x.shape[1] == 1 and state is not None else Right.shift(self, x, weights, state, **more)


@met("chunked prefill that ignores the state of the shift", "shift.chunks")
def state_ignored(self, x, weights, state=None, **more):
    return Right.shift(self, x, weights, state if x.shape[1] == 1 else None, **more)


@met("Baichuan-M1's published decode in kind: a chunk as long as the last is mixed with it", "shift.chunks")
def equal_chunks(self, x, weights, state=None, **more):
    out, last = Right.shift(self, x, weights, None if state is None else state[:, -(len(weights) - 1) :], **more)
    if state is not None and x.shape[1] > 1 and state.shape[1] == x.shape[1]:
        out = weights[0] * x + weights[1] * state
    return out, x if x.shape[1] > 1 else last


@met("the decode listings of KV shifting attention, Appendix M: the mixed token is kept", "shift.steps")
def mixed_token_kept(self, x, weights, state=None, **more):
    out, _ = Right.shift(self, x, weights, state, **more)
    return out, out[:, out.shape[1] - len(weights) + 1 :]


@met("fla #531, #535, PR #583 in kind: the shift leaks across packed documents", "shift.packed")
def shift_leaks(self, x, weights, segments=None, **more):
    return Right.shift(self, x, weights, **more)


@met("pads are zero in the embedding only, and mixed into the first token", "shift.left_padding")
def pads_shifted_in(self, x, weights, mask=None, **more):
    return Right.shift(self, x, weights, **more)


@met("keys rotated before they are shifted", "shifted_keys.order")
def rotated_first(self, keys, weights, positions, base, state=None):
    turned = self.turn(keys, positions, base)
    before = np.zeros_like(keys[:, :, :1]) if state is None else state
    return weights[0] * turned + weights[1] * np.concatenate([before, turned], 2)[:, :, :-1], turned[:, :, -1:]


@met("a cache whose last key is the rotated one", "shifted_keys.steps")
def rotated_key_kept(self, keys, weights, positions, base, state=None):
    out, last = Right.shifted_keys(self, keys, weights, positions, base, state)
    return out, self.turn(last, positions[:, -1:], base)


@met("BlaGPT in kind: keys are normed after the shift", "shifted_keys.order")
def norm_after_the_shift(self, *given, **more):
    out, last = Right.shifted_keys(self, *given, **more)
    return out / np.sqrt((out**2).mean(-1, keepdims=True) + 1e-6), last


@met("the other pairs of channels", "rope.angles", "turn")
def other_pairs(self, x, positions, base):
    turned = Right.turn(self, np.concatenate([x[..., ::2], x[..., 1::2]], axis=3), positions, base)
    return np.stack(np.split(turned, 2, axis=3), axis=4).reshape(x.shape)


@met("ports that rotate each decoded token as the first", "rope.offset")
def offset_lost(self, x, positions, *more, **dims):
    return Right.rope(self, x, positions - positions[:, :1], *more, **dims)


@met("rotary-embedding-torch 0.9.1 in bfloat16: positions are rounded, from 257 on neighbours are alike", "rope.far")
def angles_in_half_precision(self, x, positions, *more, **dims):
    unit = 2.0 ** np.maximum(0, np.floor(np.log2(np.maximum(positions, 1))) - 7)
    return Right.rope(self, x, np.round(positions / unit) * unit, *more, **dims)


@met("value residuals with swapped lerp arguments", "value_residual.factors")
def swapped_lerp(self, values, own, first):
    return Right.value_residual(self, values, first, own)


@met("configurations without @dataclass that keep their defaults", "value_residual.factors")
def defaults_kept(self, values, own, first):
    return Right.value_residual(self, values, 0.5, 0.5)


@met("halved lambda", "value_residual.factors")
def halved_lambda(self, values, own, first):
    return Right.value_residual(self, values, own, first / 2)


@met("the value handed on is what the layer below read", "value_residual.later_layers")
def handed_on(self, values, own, first):
    found = values[:1]
    for value in values[1:]:
        found.append(own * value + first * found[-1])
    return found


@met("V_1 detached: torch's own, here without a graph", "value_residual.gradient", BACKEND="torch")
def detached(self, values, own, first):
    return [values[0], *(own * v + first * values[0].detach() for v in values[1:])]


def finite_mask(where, check, constant):
    @met(where, check, "razor_layer")
    def finite_mask_constant(self, q, k, v, *what):
        gone, causal = self.dropped(q, k, *what[:3])
        return self.read(np.where(causal, self.scores(q, k) - constant * gone, -np.inf), v)


finite_mask("RazorAttention ports: mask constant -1e-5 for -1e5", "razor_attention.local_heads", 1e-5)
finite_mask("RazorAttention ports: a finite mask that a large logit beats", "razor_attention.local_heads", 10)


@met("RazorAttention ports: a return inside the loop over layers", "razor_attention.every_layer")
def return_inside_the_loop(self, q, k, v, whole, *more, **settings):
    chosen = np.zeros_like(whole)
    chosen[0] = whole[0]
    return Right.razor_attention(self, q, k, v, chosen, *more, **settings)


@met("RazorAttention ports: a crash under grouped queries", "razor_attention.grouped", "razor_layer")
def crash_under_groups(self, q, k, *more):
    assert (q * k).size  # a product head by head
    return Right.razor_layer(self, q, k, *more)


@met("RazorAttention ports: one retrieval head of a group does not keep it", "razor_attention.whole_heads")
def whole_forgotten(self, q, k, v, whole, *more, **settings):
    return Right.razor_attention(self, q, k, v, np.zeros_like(whole), *more, **settings)


@met("RazorAttention ports: a compensation token without N_d", "razor_attention.compensation", "mass")
def token_counts_once(self, count):
    return np.where(count > 0, 0.0, -np.inf)


@met("evicted entries zeroed and still attended to", "evicting_attention.output", "masked")
def zeroed_not_masked(self, q, k, v, sees):
    sees = spread(sees, q)
    logits = np.where(np.tri(k.shape[2], dtype=bool), np.where(sees, self.scores(q, k), 0.0), -np.inf)
    return softmax(logits) * sees @ spread(v, q)


@met("a policy that is asked anew over all tokens, so that dropped ones come back", "evicting_attention.gone_for_good")
def come_back(self, q, k, v, chunks):
    """Every second step another half of the past is shown."""
    place = np.arange(k.shape[2])
    sees = (place <= place[:, None]) & ((place % 2 == place[:, None] % 2) | (place > place[:, None] - 3))
    kept = np.broadcast_to(sees, (*k.shape[:3], k.shape[2]))
    return self.masked(q, k, v, kept), kept.copy()


@met("a mask that begins one late, so that a token sees the next", "logits.causal")
def sees_the_next(self, tokens):
    found = Right.logits(self, tokens)
    found[:, :-1] += 0.1 * self.table[tokens[:, 1:]] @ self.table.T
    return found


@met(
    "x-transformers 2.31.10 with shift_tokens: at each cached step the token before is missing",
    "decoded.steps",
    "advance",
)
def no_shift_at_decode(self, part, state):
    state["last"] = state["last"] * (state["at"] == 0)
    return Right.advance(self, part, state)


@met("local-attention 1.11.2: cached keys are rotated, and rotated again at the next step", "decoded.steps", "advance")
def rotated_again(self, part, state):
    if state["at"] > 1:
        state["k"] = self.turn(state["k"], np.arange(state["k"].shape[2])[None], 100.0)
    return Right.advance(self, part, state)


@met(
    "mlx-lm 0.32.2, Baichuan-M1: a shorter prompt is padded, and its last raw key is that of a pad",
    "decoded.ragged",
    "prompt_read",
)
def state_of_a_pad(self, state, prompt, prompts):
    if len(prompt) < max(map(len, prompts)):
        state["last"] = self.table[:1]


@met("a prompt in chunks, whose second one begins as if it were the first", "decoded.chunks", "advance")
def chunks_from_zero(self, part, state):
    if len(part) > 1:
        state["last"] = np.zeros((1, 8))
    return Right.advance(self, part, state)
