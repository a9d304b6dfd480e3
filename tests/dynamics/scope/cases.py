"""Checkpoints in memory, one for every kind of head that `scope` knows."""

import numpy as np

from dynamics.scope.heads import layer_scopes, settings
from dynamics.weights.layout import Architecture
from dynamics.weights.reader import SmallTensors
from theory import alibi

LAYERS, HEADS, KV_HEADS, WIDTH, D_MODEL = 2, 4, 2, 4, 10
PLAIN = Architecture("stand-in", LAYERS, HEADS, KV_HEADS, WIDTH, D_MODEL, "rms", "none", None, "halves", 0.5, 64)
SLOPES = tuple(alibi.slopes(HEADS))
ALIBI = {"position": "alibi", "slopes": SLOPES}


class InMemory:
    """What `Checkpoint` answers, from arrays."""

    rounded = cast = False

    def __init__(self, architecture=PLAIN, size=1.0, seed=0, **small):
        rng = np.random.default_rng(seed)
        self.architecture = architecture
        a = architecture
        counts = {"query": a.n_heads, "key": a.n_kv_heads, "value": a.n_kv_heads}
        self.weights = [
            {
                role: (size * rng.standard_normal((n, a.d_head, a.d_model))).astype(np.float32)
                for role, n in counts.items()
            }
            for _ in range(a.n_layers)
        ]
        shapes = {
            "norm_bias": (a.d_model,), "query_bias": (a.n_heads, a.d_head), "key_bias": (a.n_kv_heads, a.d_head),
            "value_bias": (a.n_kv_heads, a.d_head), "query_gain": (a.d_head,), "key_gain": (a.d_head,),
            "alpha": (a.n_kv_heads, 2), "beta": (a.n_kv_heads, 2),
        }  # fmt: skip
        made = {name: rng.standard_normal(shapes[name]).astype(np.float32) for name in small.pop("random", ())}
        gamma = np.exp(0.5 * rng.standard_normal(a.d_model)).astype(np.float32)
        self._small = SmallTensors(**{"gamma": gamma, **made, **small})

    def exact_in(self, arithmetic):
        return not self.cast

    def layer_architecture(self, layer):
        return self.architecture

    def projection(self, layer, role, first, last, out=None):
        return self.weights[layer][role][first:last]

    def pair(self, layer, head):
        """W_Q and W_K of what `layer_scopes` says of a head."""
        return self.weights[layer]["query"][head.head], self.weights[layer]["key"][head.kv_head]

    def small(self, layer):
        return self._small


def rounded(bound, checkpoint, arithmetic, eps, layer=0, **asked):
    """The exact scopes of a layer's heads, and what a function of `dynamics.scope.rounded` makes of them."""
    asked = settings(checkpoint, eps, 0.01, **asked)
    heads = layer_scopes(checkpoint, layer, asked)
    return heads, bound(checkpoint, layer, heads, asked, arithmetic)


def case(random=(), window=None, size=1.0, **changes):
    return InMemory(PLAIN._replace(**changes), size, random=random, window=window)


BIASES = ("norm_bias", "query_bias", "key_bias", "value_bias")
CASES = {
    "alibi": case(**ALIBI),
    "alibi, small": case(size=0.2, **ALIBI),
    "alibi, biases": case(BIASES, norm="layer", **ALIBI),
    "alibi, scale": case(norm="layer", scale=0.9, **ALIBI),
    "alibi, clip": case(BIASES, norm="layer", clip=0.8, **ALIBI),
    "alibi, far clip": case(BIASES, norm="layer", clip=1e3, **ALIBI),
    "alibi, shift": case(("alpha", "beta"), **ALIBI),
    "alibi, window": case(window=5, **ALIBI),
    "none": case(),
    "rope": case(position="rope"),
    "rope, biases": case(("query_bias", "key_bias", "value_bias"), position="rope", pairs="neighbours"),
    "rope, norms": case(("query_gain", "key_gain"), position="rope"),
    "rope, shift, window": case(("alpha", "beta"), position="rope", window=7),
}
