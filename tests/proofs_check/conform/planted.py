"""Mistakes from the wild, made again from their descriptions.

MISTAKES: class -> (where it was met, the check that names it).
"""

from functools import partial
from itertools import accumulate

import numpy as np

from tests.proofs_check.conform.planting import out, plant
from tests.proofs_check.conform.right import InTorch, softmax, spread

MISTAKES = {}
met = partial(plant, MISTAKES)


@np.errstate(over="ignore", invalid="ignore")
def less_the_share(found, logits, sinks):
    beyond = np.exp(sinks.astype(np.float32))[:, None, None]
    return found * (1 - beyond / (np.exp(logits.astype(np.float32)).sum(-1, keepdims=True) + beyond))


def eight_bits(positions):
    mantissa, power = np.frexp(positions)
    return np.ldexp(np.round(256 * mantissa), power - 8)


def finite_mask(constant):
    def found(self, q, k, v, whole, sinks, window):
        gone, causal = self.dropped(q, k, whole, sinks, window)
        return self.read(np.where(causal, self.scores(q, k) - constant * gone, -np.inf), v)

    return found


def zeroed(self, q, k, v, sees, keys):
    sees = spread(sees, q)
    return softmax(np.where(np.tri(keys) > 0, self.scores(q, k) * sees, -np.inf)) * sees @ spread(v, q)


def come_back(self, q, k, v, keys):
    """Every second step another half of the past is shown."""
    back = -self.distance(keys, keys)
    sees = (back >= 0) & ((back % 2 == 0) | (back < 3))
    kept = np.tile(sees, (*k.shape[:2], 1, 1))
    return self.masked(q, k, v, kept), kept


met("TransformerLens 3.9.0: 2^(-8h/n) for any n", "alibi_slopes.any_head_count",
    found=lambda n_heads: 2.0 ** (-8 / n_heads * np.arange(1, n_heads + 1)))
met("ALiBi ports: exponent -8(h - 1)/n, so that the first slope is 1", "alibi_slopes.powers_of_two",
    found=lambda n_heads, found: found * 2.0 ** (8 / n_heads))
met("ALiBi ports: the bias grows with distance", "alibi_bias.whole", found=lambda found: -found)
met("vLLM PR #945 in kind: the query stands one place before its own", "alibi_bias.whole", "distance",
    found=lambda found: -abs(found + 1))
for where, check in (("keras-hub #2861, #2977: the bias is zero at each decode step", "alibi_bias.decode"),
                     ("the same, in the attention", "alibi_attention.decode")):
    met(where, check, "alibi_bias",  # positions of the keys are counted among the new tokens alone
        found=lambda n_queries, n_keys, found: found * (np.arange(n_keys) >= n_keys - n_queries))
met("ALiBi in a batch: one row's pads are taken for all rows'", "alibi_bias.left_padding", when="mask is not None",
    found=lambda self, n_heads, mask: -self.alibi_slopes(n_heads)[:, None, None] * np.cumsum(mask[0, ::-1])[::-1])

met("masked_fill whose result is thrown away", "attention.causal", "seen", found=lambda logits: logits)
met("a triangle of queries by keys that starts at the first key, in decoding", "attention.decode", "distance",
    found=lambda n_queries, n_keys: np.arange(n_keys) - np.arange(n_queries)[:, None])
met("local-attention 1.11.2, GPT-OSS in keras-hub 0.32.0: a window of w and the query's own token", "attention.window",
    when="window", window=lambda window: window + 1)
met("x-transformers 2.31.10: head h reads group h mod groups, an order of its own", "attention.grouped", "scores",
    k=lambda k, heads, groups: k[:, np.arange(heads) % groups])
met("packed documents whose mask is forgotten (marin #5801 in kind)", "attention.packed", segments=lambda: None)
met("vllm-metal PR #550, unsloth #3142 in kind: a path without sinks", "sink_attention.decode",
    when="queries == 1 < keys", sinks=lambda: None)
met("the plain output, scaled by one less the sink's share, whose exponential overflows", "sink_attention.large_sink",
    "read", when="sinks is not None", sinks=lambda: None, found=less_the_share)

met("edge padding for zero padding", "shift.whole",
    when="state is None", state=lambda x, weights: np.repeat(x[:, :1], len(weights) - 1, axis=1))
met("a return before the shift, for single tokens", "shift.steps",
    when="tokens == 1 and state is not None", found=lambda x: (x, x))
met("chunked prefill that ignores the state of the shift", "shift.chunks", when="tokens > 1", state=lambda: None)
met("Baichuan-M1's published decode in kind: a chunk as long as the last is mixed with it", "shift.chunks",
    state=lambda state, weights: state if state is None else state[:, 1 - len(weights):],
    found=lambda x, weights, state, tokens, found: (
        weights[0] * x + weights[1] * state if 1 < tokens and np.shape(state) == x.shape else found[0],
        x if 1 < tokens else found[1]))
met("the decode listings of KV shifting attention, Appendix M: the mixed token is kept", "shift.steps",
    found=lambda weights, found: (found[0], found[0][:, 1 - len(weights):]))
met("fla #531, #535, PR #583 in kind: the shift leaks across packed documents", "shift.packed", segments=lambda: None)
met("pads are zero in the embedding only, and mixed into the first token", "shift.left_padding", mask=lambda: None)
met("keys rotated before they are shifted", "shifted_keys.order",
    keys=lambda self, keys, positions, base: self.turn(keys, positions, base),
    found=lambda self, positions, base, found: (self.turn(found[0], -positions, base), found[1]))
met("a cache whose last key is the rotated one", "shifted_keys.steps",
    found=lambda self, positions, base, found: (found[0], self.turn(found[1][None], positions[:1, -1:], base)[0]))
met("BlaGPT in kind: keys are normed after the shift", "shifted_keys.order",
    found=out(lambda x: x / np.sqrt((x**2).mean(-1, keepdims=True) + 1e-6)))

met("the other pairs of channels", "rope.angles", "turn",
    x=lambda x: np.concatenate([x[..., ::2], x[..., 1::2]], axis=3),
    found=lambda x, found: np.stack(np.split(found, 2, axis=3), axis=4).reshape(x.shape))
met("ports that rotate each decoded token as the first", "rope.offset",
    positions=lambda positions: positions - positions[:, :1])
met("rotary-embedding-torch 0.9.1 in bfloat16: positions are rounded, from 257 on neighbours are alike", "rope.far",
    positions=eight_bits)

met("value residuals with swapped lerp arguments", "value_residual.factors",
    own=lambda first: first, first=lambda own: own)
met("configurations without @dataclass that keep their defaults", "value_residual.factors",
    own=lambda: 0.5, first=lambda: 0.5)
met("halved lambda", "value_residual.factors", first=lambda first: first / 2)
met("the value handed on is what the layer below read", "value_residual.later_layers",
    found=lambda values, own, first: [*accumulate(values, lambda below, value: own * value + first * below)])
met("V_1 detached: torch's own, here without a graph", "value_residual.gradient", right=InTorch,
    found=lambda values, own, first: [values[0], *(own * v + first * values[0].detach() for v in values[1:])])

met("RazorAttention ports: mask constant -1e-5 for -1e5", "razor_attention.local_heads", "razor_layer",
    found=finite_mask(1e-5))
met("RazorAttention ports: a finite mask that a large logit beats", "razor_attention.local_heads", "razor_layer",
    found=finite_mask(10))
met("RazorAttention ports: a return inside the loop over layers", "razor_attention.every_layer",
    whole=lambda whole: whole & (np.arange(len(whole)) == 0)[:, None])
met("RazorAttention ports: a crash under grouped queries", "razor_attention.grouped", "razor_layer",
    k=lambda q, k: k + 0 * q)  # head by head
met("RazorAttention ports: one retrieval head of a group does not keep it", "razor_attention.whole_heads",
    whole=lambda whole: whole & False)
met("RazorAttention ports: a compensation token without N_d", "razor_attention.compensation", "mass",
    found=lambda count: np.where(count > 0, 0.0, -np.inf))
met("evicted entries zeroed and still attended to", "evicting_attention.output", "masked", found=zeroed)
met("a policy that is asked anew over all tokens, so that dropped ones come back", "evicting_attention.gone_for_good",
    found=come_back)

met("a mask that begins one late, so that a token sees the next", "logits.causal",
    found=lambda self, tokens, found: found + 0.1 * np.pad(
        self.table[tokens[:, 1:]], ((0, 0), (0, 1), (0, 0))) @ self.table.T)
met("x-transformers 2.31.10 with shift_tokens: at each cached step the token before is missing", "decoded.steps",
    "advance", state=lambda state: state.update(last=state["last"] * (state["at"] == 0)) or state)
met("local-attention 1.11.2: cached keys are rotated, and rotated again at the next step", "decoded.steps", "advance",
    when="state['at'] > 1", state=lambda self, state: state.update(
        k=self.turn(state["k"], np.arange(state["k"].shape[2])[None], 100.0)) or state)
met("mlx-lm 0.32.2, Baichuan-M1: a shorter prompt is padded, and its last raw key is that of a pad", "decoded.ragged",
    "prompt_read", when="len(prompt) < max(map(len, prompts))",
    found=lambda self, state: state.update(last=self.table[:1]))
met("a prompt in chunks, whose second one begins as if it were the first", "decoded.chunks", "advance",
    when="len(part) > 1", state=lambda state: state.update(last=0 * state["last"]) or state)
