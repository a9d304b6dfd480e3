"""What the model's functions refuse: for each call the words of the error, and the arguments that it answers."""

import math

import torch

from dynamics.model.attention import KVShiftAttention
from dynamics.model.cache import KVCache
from dynamics.model.config import CANON, Latent, ModelConfig, cla
from dynamics.model.made.known_heads import known_model
from dynamics.model.made.two_word import two_word_model
from dynamics.model.shift import shift_mix
from tests.dynamics.model.test_attention import attention, filled, random_tokens
from tests.dynamics.refusal import done

X = torch.zeros(2, 3, 4, 2)
ONES = torch.ones(4, 2)
PLACES = torch.zeros(2, 3, dtype=torch.long)


def made(width=8, n_heads=2, **choices):
    KVShiftAttention(width, n_heads, **choices)


def called(x=torch.zeros(2, 3, 8), **inputs):  # noqa: B008
    KVShiftAttention(8, 2)(x, **inputs)


def config(**options):
    ModelConfig.checked({"width": 16, "n_heads": 4, "n_layers": 4} | options)


def known(**options):
    known_model(0, **options)


TABLE = {
    made: {
        "width must be at least 1, got 0": {"width": 0},
        "multiple of n_kv_heads, got 2 and 3": {"n_kv_heads": 3},
        "head_dim must be at least 1, got -2": {"head_dim": -2},
        "width must be a multiple of n_heads unless head_dim is given, got 9 and 2": {"width": 9},
        "window must be an integer in 1..4, got 5": {"window": 5},
        "window must be an integer in 1..4, got 0": {"window": 0},
        "window must be an integer in 1..4, got True": {"window": True},
        "window must be an integer in 1..4, got 2.0": {"window": 2.0},
        "shift must be one of none, k, v, kv, qkv, got 'vk'": {"shift": "vk"},
        "parameters must be one of free, gate, clip, got 'tanh'": {"parameters": "tanh"},
        "'gate' needs window 2, got 3": {"parameters": "gate", "window": 3},
        "position must be one of rope, alibi, none, got 'learned'": {"position": "learned"},
        "start must be one of zero, carried, learnt, got 'none'": {"start": "none"},
        "initial must be one of paper, matched, got 'ones'": {"initial": "ones", "shift": "none"},
        "even head_dim, got 3": {"head_dim": 3},
        "rope_base must be positive and finite, got 0.0": {"rope_base": 0.0},
        "rope_base must be positive and finite, got inf": {"rope_base": math.inf},
        "rope_base must be positive and finite, got True": {"rope_base": True},
        "scale must be positive and finite, got '1'": {"scale": "1"},
        "sliding_window must be an integer, got 2.0": {"sliding_window": 2.0},
        "n_heads must be an integer, got True": {"n_heads": True},
    },
    called: {
        "x must be (batch, length >= 1, 8), got shape (2, 3)": {"x": X[..., 0, 0]},
        "x must be (batch, length >= 1, 8), got shape (2, 3, 7)": {"x": torch.zeros(2, 3, 7)},
        "x must be (batch, length >= 1, 8), got shape (2, 0, 8)": {"x": torch.zeros(2, 0, 8)},
        "x must be a tensor of real floats, got torch.int64": {"x": PLACES},
        "x must be a tensor of real floats, got list": {"x": [[[0.0] * 8]]},
        "query_index must be in 0..2, got [0, 3]": {"query_index": torch.tensor([0, 3])},
        "query_index must be in 0..2, got [-1, 0]": {"query_index": torch.tensor([-1, 0])},
        "query_index must be integers of shape (2,), got torch.float32": {"query_index": torch.tensor([0.0, 1.0])},
        "query_index must be integers of shape (2,), got torch.int64": {"query_index": torch.tensor([0])},
        "query_index must be integers of shape (2,), got torch.bool": {"query_index": torch.tensor([True, False])},
        "segment_ids must be integers of shape (2, 3)": {"segment_ids": torch.zeros(2, 4, dtype=torch.long)},
        "padding must be in 0..3, got [0, 4]": {"padding": torch.tensor([0, 4])},
        "padding must be at least 0": {"padding": torch.tensor([0, -1]), "cache": KVCache()},
        "a cache excludes query_index": {"query_index": torch.tensor([0, 1]), "cache": KVCache()},
        "a cache excludes query_index and segment_ids": {"segment_ids": PLACES, "cache": KVCache()},
    },
    done: {
        "capacity must be at least 1 or None, got 0": lambda: KVCache(0),
        "this one is empty": lambda: KVCache().reorder(torch.tensor([0])),
        "sequences 0..1, got [2]": lambda: filled().reorder(torch.tensor([2])),
        "sequences 0..1, got [-1]": lambda: filled().reorder(torch.tensor([-1])),
        "sequences 0..1, got []": lambda: filled().reorder(torch.tensor([], dtype=torch.long)),
        "a vector of integers, got torch.float32": lambda: filled().reorder(torch.tensor([0.0])),
        "a vector of integers, got torch.int64, 2 axes": lambda: filled().reorder(torch.tensor([[0]])),
        "holds 2 tokens, 3 do not fit": lambda: filled(capacity=2),
        "holds no graph": lambda: attention()(random_tokens(1, 1), cache=KVCache(4)),
        "previous must be x's shape": lambda: attention()(random_tokens(3, 1), cache=filled()),
        "got torch.float64 of shape (3, 2, 1, 4)": lambda: attention(shift="none")(random_tokens(3, 1), cache=filled()),
        "got torch.float32 of shape (2, 2, 1, 4)": lambda: attention(shift="none").float()(
            random_tokens(2, 1).float(), cache=filled()
        ),
        "padding belongs to the first chunk": lambda: attention()(
            random_tokens(2, 1), cache=filled(), padding=torch.tensor([0, 1])
        ),
    },
    shift_mix: {
        "x must be (batch, length, heads, head_dim), got shape (3, 4, 2)": (X[0], ONES),
        "weights must be (4, window) with window in 1..4, got shape (3, 2)": (X, ONES[:3]),
        "weights must be (4, window) with window in 1..4, got shape (4, 5)": (X, torch.ones(4, 5)),
        "weights must be (4, window) with window in 1..4, got shape (4, 0)": (X, torch.ones(4, 0)),
        "weights must be (4, window) with window in 1..4, got shape (4,)": (X, torch.ones(4)),
        "previous must be x's shape": (X, ONES, X[:1]),
        "segment_ids must have shape (2, 3)": (X, ONES, None, torch.zeros(2, 4)),
        "exclude each other": (X, ONES, X, PLACES),
    },
    config: {
        "order must be 'shifted', got 'raw'": {"values": {"kind": "shared", "keys": True}},
        "keys and values that are shared": {"values": cla(4).model_dump(), "past": [{"at": "key"}]},
        "multiple of 4, got 6": {"weights": "differential", "width": 24},
        "multiple of 2, got 3": {"weights": "differential", "width": 12, "position": "alibi"},
        "selective attention is causal": {"weights": "selective", "causal": False},
        "over the keys of one layer": {"weights": "selective", "values": {"kind": "cross"}},
        "neither halved": {"weights": "differential", "latent": {"size": 4, "rope": 2}},
        "neither halved (differential) nor normed": {"qk_norm": True, "latent": {"size": 4, "rope": 2}},
        "got 0 and 'rope'": {"latent": {"size": 4}},
        "if and only if the position is 'rope'": {"latent": {"size": 4, "rope": 2}, "position": "alibi"},
        "even and below the head size 4, got 3": {"latent": {"size": 4, "rope": 3}},
        "below the head size 4, got 4": {"latent": {"size": 4, "rope": 4}},
        "greater than or equal to 1 (got 0)": {"latent": {"size": 0}},
        "heads of the past must be below 4, got [4]": {"past": [{"at": "key", "heads": [4], "residual": False}]},
        "heads [0] is of queries, keys or": {"past": [{"at": "mlp", "heads": [0], "residual": False}], "mlp_width": 8},
        "one of the two": {"past": [{"at": "key", "heads": [0], "offset": 0.5, "residual": False}]},
        "'common' needs own values, softmax, causal attention": [
            {"place": "common", "qk_norm": True},
            {"place": "common", "latent": {"size": 4, "rope": 2}},
            {"place": "common", "values": {"kind": "residual"}},
            {"place": "common", "weights": "sink"},
        ],
        "width 66 is not a multiple of n_heads 4": {"width": 66},
        "even head size": {"width": 12},
        "n_heads 4 is not a multiple of n_kv_heads 3": {"n_kv_heads": 3},
        "width: Input should be greater than or equal to 1 (got 0)": {"width": 0},
        "(got 'kq')": {"shift": "kq"},
        "rope_base: Input should be a finite number (got nan)": {"rope_base": math.nan},
        "colour: Extra inputs are not permitted": {"colour": 1},
        "gated parameters need window 2, got 3": {"parameters": "gate", "window": 3},
        "needs shift 'kv'": {"place": "common", "shift": "k"},
        "needs shift 'none'": {"place": "half"},
        "place 'half' needs start 'zero', got": {"place": "half", "shift": "none", "start": "carried"},
        "'fused' needs shift 'none', no alibi": {"place": "fused", "shift": "none", "position": "alibi"},
        "no n_kv_heads": {"place": "common", "n_kv_heads": 2},
        "two layers, got 1": {"place": "apart", "shift": "none", "n_layers": 1},
        "own must not be 0": {"values": {"kind": "borrowed", "of": "value", "own": 0.0}},
        "not by the past of a layer": {"values": {"kind": "borrowed", "of": "key"}, "past": CANON["B"]},
        "layers that read latents": {"values": {"kind": "borrowed", "of": "key"}, "latent": Latent(size=4, rope=2)},
        "need a layer above the first one": {"values": {"kind": "residual", "layers": [1]}, "n_layers": 1},
        "less than or equal to 16777216": {"position": "learned", "max_length": 10**12},
        "layers of values must rise within 1..3, got [0]": {"values": {"kind": "residual", "layers": [0]}},
        "layers of values must rise within 1..3, got [2, 1]": {"values": {"kind": "residual", "layers": [2, 1]}},
        "layers of values must rise within 1..3, got []": {"values": {"kind": "residual", "layers": []}},
        "the first anchor must be layer 0": {"values": {"kind": "shared", "anchors": [1]}},
        "anchors of values must rise within 0..3": {"values": {"kind": "shared", "anchors": [0, 4]}},
        "does not match any of the expected tags": {"values": {"kind": "first"}},
        "position 'learned' and max_length go together": [{"position": "learned"}, {"max_length": 4}],
        "each place of the past once, got key, key": {"past": [{"at": "key"}, {"at": "key"}]},
        "the past of an MLP needs mlp_width": {"past": [{"at": "mlp"}]},
        "'embedding', 'attention'": {"past": [{"at": "nowhere"}]},
        "offset 0.5 is of queries": {"past": [{"at": "mlp", "window": 2, "offset": 0.5, "residual": False}]},
        "offset 0.25 is of queries": {"past": [{"at": "key", "window": 3, "offset": 0.25, "residual": False}]},
        "offset 0.5 is of queries, keys or values": {"past": [{"at": "key", "offset": 0.5}]},
        "are mixed by the shift": {"past": [{"at": "value"}], "values": {"kind": "shared"}},
    },
    known: {
        "codes must be a multiple of 4 in 8..18, got 18": {"vocab": 18},
        "codes must be a multiple of 4 in 8..4, got 4": {"vocab": 4},
        "codes must be a multiple of 4 in 8..16, got 20": {"codes": 20},
        "needs 2 layers, 4 heads, 2 key-value heads, got 1, 4, 4": {"n_layers": 1},
        "needs 2 layers, 4 heads, 2 key-value heads, got 2, 3, 4": {"n_heads": 3},
        "needs 2 layers, 4 heads, 2 key-value heads, got 2, 4, 1": {"n_kv_heads": 1},
        "ALiBi needs codes of dimension 16, one for each token, got 8": {"position": "alibi", "codes": 8},
        "position: ": {"position": "sinus"},
    },
    two_word_model: {"no two-word model 'three words'; there are two tokens, ": "three words"},
}
