"""Forty mistakes past a size, in a combination, by state, precision or policy, which no check found when written.

UNSEEN: class -> (where it was met, or its kind; the subject). Any check may find it.
"""

from functools import partial

import numpy as np

from tests.proofs_check.conform.planting import plant
from tests.proofs_check.conform.right import Right, softmax

UNSEEN = {}
unseen = partial(plant, UNSEEN)


def cut(x):
    """To bfloat16: the last 16 bits are cut off."""
    return (np.float32(x).view("u4") & 0xFFFF0000).view("f4")


def one_buffer(self, found):
    """The state, in the place of every other of its shape."""
    kept = vars(self).setdefault(str(found[1].shape), found[1])
    np.copyto(kept, found[1])
    return found[0], kept


# Past a size.

unseen("pytorch #159247 in kind: a last tile of 32 with one key in it is skipped", "attention", "seen",
       when="keys % 32 == 1 < queries", mask=lambda keys: ~np.eye(keys, dtype=bool)[-1:])
unseen("flashinfer PR #5090 in kind: past 64 keys, the empty places of the last block weigh exp(0)", "attention",
       "read", when="keys > 64", sinks=lambda heads, keys: np.log(np.full(heads, 64 - keys % 64)))
unseen("heads wider than 64 are scaled as if they had 64 channels", "attention", "scores",
       when="width > 64", q=lambda q, width: q * (width / 64) ** 0.5)
unseen("tiny-flash-attention #12 in kind: channels past the last whole tile of 16 are lost", "attention", "scores",
       when="width > 16", q=lambda q, width: q * (np.arange(width) < width // 16 * 16))
unseen("a table of slopes for 16 heads, read again from its start", "alibi_attention", "alibi_bias",
       found=lambda found: found[np.arange(len(found)) % 16])
unseen("at most 8 heads to a group share a block of threads: the ninth reads the next group", "attention", "scores",
       k=lambda k, heads, groups: k[:, np.arange(heads) // min(8, heads // groups) % groups])
unseen("pads of four rows are staged, the fifth row reads those of the first", "attention", "seen",
       when="mask is not None", mask=lambda mask: np.resize(mask[:4], mask.shape))
unseen("mlx-lm #439, litgpt #1741 in kind: a ring of 32 cached tokens", "decoded", "advance",
       state=lambda state: state.update({key: state[key][:, :, -31:] for key in "kv"}) or state)
unseen("a rotary table of 8192 rows, whose last one serves all that come after", "rope",
       positions=lambda positions: positions.clip(0, 8191))
unseen("a convolution of four taps at most: older ones are dropped in silence", "shift",
       weights=lambda weights: [*weights[:4], *[0] * (len(weights) - 4)])
unseen("documents counted in three bits: the ninth is the first again", "attention", "seen",
       when="segments is not None", segments=lambda segments: segments % 8)
unseen("a prompt longer than 64 tokens takes a path without sinks", "razor_attention", "dropped",
       when="keys > 64", sinks=lambda: 0)
unseen("a second stage of the pipeline from layer 8 on, whose own first layer is taken for the first", "value_residual",
       found=lambda self, values, own, first, found: found[:8] + (
           values[8:] and Right.value_residual(self, values[8:], own, first)))
unseen("constant memory for the slopes of 128 heads", "alibi_slopes",
       found=lambda found: np.resize(found[:128], len(found)))

# In a combination alone.

unseen("maxtext #5001, LlamaFactory #7754 in kind: documents take the place of the window", "attention", "seen",
       when="segments is not None", window=lambda: None)
unseen("a mask is either of pads or of a window", "attention", "seen",
       when="window", mask=lambda: None)
unseen("the kernel of grouped heads has no window", "attention", "sink_attention",
       when="heads > groups", window=lambda: None)
unseen("documents are forgotten as soon as one token is decoded", "attention", "seen",
       when="queries == 1", segments=lambda: None)
unseen("transformers #43082, unsloth #4078 in kind: a later chunk sees the pads", "attention", "seen",
       when="1 < queries < keys", mask=lambda: None)
unseen("the same in a model: shorter prompts, read in chunks, see their pads", "decoded", "decoded_row",
       when="chunk", prompt=lambda prompt, prompts: [0] * (max(map(len, prompts)) - len(prompt)) + prompt)
unseen("decoding grouped heads, sinks are read group by group", "sink_attention",
       when="queries == 1 < keys and sinks is not None",
       sinks=lambda heads, groups, sinks: np.repeat(sinks[:groups], heads // groups))
unseen("decoding grouped heads, slopes are those of so many groups", "alibi_attention",
       when="queries == 1 < keys and heads > groups", found=lambda self, q, k, v, heads, groups, keys: self.read(
           self.scores(q, k) + np.repeat(self.alibi_bias(groups, 1, keys), heads // groups, 0), v))
unseen("the kernel for three weights knows no documents", "shift",
       when="len(weights) > 2", segments=lambda: None)
unseen("a single token turns by the first row's position in every row", "rope",
       when="tokens == 1", positions=lambda positions: positions[:1])
unseen("the compensation token's key is the mean over the batch", "razor_attention", "with_token",
       k=lambda k: k.mean(0, keepdims=True))
unseen("a fast path for batches that ask for nothing else, whose triangle starts at the first key", "attention",
       "seen", when="rows > 1 and mask is segments is window is None",
       found=lambda logits, queries, keys: np.where(np.tri(queries, keys) > 0, logits, -np.inf))
unseen("pads and documents in one array, where 0 is a pad and the first document", "attention", "seen",
       when="mask is not None and segments is not None",
       mask=lambda: None, segments=lambda mask, segments: segments * mask)

# By state.

unseen("the mask of documents is kept by the shape of the call", "attention", "seen",
       when="segments is not None",
       segments=lambda self, logits, segments: vars(self).setdefault(str(logits.shape), segments))
unseen("positions of a batch are kept from its first call of that shape", "rope", when="len(x) > 1",
       positions=lambda self, positions: vars(self).setdefault(str(positions.shape), positions))
unseen("a prefix cache that finds prompts by their lengths", "decoded",
       found=lambda self, prompts, steps, chunk, found: vars(self).setdefault(
           f"{[*map(len, prompts)]} {steps.shape} {chunk}", found))
unseen("scores of a cache that are not reset for the next text", "evicting_attention", "forget",
       k=lambda self, k: vars(self).setdefault(str(k.shape), k))
unseen("one buffer for the state of every stream", "shift", found=one_buffer)

# By precision.

unseen("TensorRT-Model-Connect #667, vllm-fork #503 in kind: ALiBi of positions in bfloat16", "alibi_bias",
       found=lambda self, n_heads, n_keys: self.alibi_slopes(n_heads)[:, None, None] * cut(np.arange(n_keys)))
unseen("the weights of a shift are kept in bfloat16", "shifted_keys", weights=lambda weights: cut(weights))
unseen("tt-metal #44295 in kind: decoding, logits are cut at 88 in place of a running maximum", "attention", "read",
       when="queries == 1", logits=lambda logits: logits.clip(None, 88))

# Of policy.

unseen("KVCache-Factory #49 in kind: heavy hitters by the attention of the whole text", "evicting_attention", "forget",
       k=lambda self, k: k * 0 + softmax(self.seen(self.scores(k, k))).sum(2)[..., None])
unseen("the first row decides what every row forgets", "evicting_attention", "forget", k=lambda k: k[:1] + 0 * k)
unseen("the budget is divided among the rows of a batch", "evicting_attention", "forget",
       k=lambda self, k: vars(self).update(budget=max(6 // len(k), 1)) or k)
unseen("experts of a capacity for 8 rows: those after them skip the layer", "logits",
       found=lambda self, tokens, found: np.concatenate([found[:8], self.table[tokens[8:]] @ self.table.T]))
unseen("token 0 is taken for a pad wherever it stands", "decoded", "decoded_row",
       prompt=lambda prompt: [token for token in prompt if token] or prompt)
