"""What a layer's ranges cost over its float32 Gram products, whatever format its file has, norms and biases included.

40 random heads at d_model 5120, d_head 128, rounded to each format, with gains. One Gram product is the time that torch
needs for W Gamma (W Gamma)^T of all heads of one matrix in float32, gains included. A function is measured against
those of the matrices that it is handed; a whole layer from its file, ranges, norms and diameters, less what reading it
takes, against those of W_Q, W_K and W_V. The baseline is `alibi.logit_range`, by orthogonal factors; a few heads stand
for all.
"""

import statistics
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors.torch import save_file

from benchmarks.row import Comparison, Guard, Limit, Row
from benchmarks.scope import D_HEAD, D_MODEL, FEW, HEADS, QUICK, gram_products
from benchmarks.timing import Times, interleave
from dynamics.scope.ranges import layer_ranges
from dynamics.weights import safetensors_file
from dynamics.weights.layout import ROLES, Architecture, LayerLayout, Layout, Role, separate
from dynamics.weights.reader import Checkpoint
from theory import alibi
from theory.alibi import grams
from theory.alibi.grams_rotary import rotary_ranges

FORMATS = {"float32": torch.float32, "float16": torch.float16, "bfloat16": torch.bfloat16}
MOST = 2.5
REPORTED = "rotary ranges, RMSNorm, biases"  # a search by eigenvalues, near 2.8; its layer keeps to the limit
CHUNK = 3  # heads read at a time
KINDS = {
    "a layer, ALiBi, LayerNorm, biases": ("layer", "alibi", True),
    "a layer, ALiBi, RMSNorm": ("rms", "alibi", False),
    "a layer, RoPE, RMSNorm": ("rms", "rope", False),
    "a layer, RoPE, RMSNorm, biases": ("rms", "rope", True),
}
Layer = dict[str, NDArray[np.float32]]
Variants = dict[str, Callable[[], object]]


def measure(quick: bool) -> Row:
    row = Row("formats", [], [], [])
    shape = QUICK if quick else (HEADS, D_HEAD, D_MODEL)
    drawn = random_layer(*shape)
    for name, dtype in FORMATS.items():
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "layer.safetensors"
            save_file({key: tensor.to(dtype) for key, tensor in drawn.items()}, path)
            weights = as_read(path, shape)
            variants = products(weights) | functions(weights) | layers(path, shape)
            times = interleave(variants, 2 if quick else 5)
        row.limits.extend(limits(name, times))
        row.comparisons.append(orthogonal(name, weights, times))
        row.guards.extend(guards(name, weights))
    return row


def random_layer(heads: int, d_head: int, d_model: int) -> dict[str, torch.Tensor]:
    rng = torch.Generator().manual_seed(0)
    wide = {name: 0.02 * torch.randn(heads * d_head, d_model, generator=rng) for name in ROLES}
    biases = {f"{name}_bias": 0.1 * torch.randn(heads * d_head, generator=rng) for name in ROLES}
    gamma, bias = torch.exp(0.1 * torch.randn(d_model, generator=rng)), 0.1 * torch.randn(d_model, generator=rng)
    return {**wide, **biases, "gamma": gamma, "norm_bias": bias}


def as_read(path: Path, shape: tuple[int, int, int]) -> Layer:
    found: Layer = {name: safetensors_file.read(tensor) for name, tensor in safetensors_file.tensors(path).items()}
    found |= {role: found[role].reshape(shape) for role in ROLES}
    return found | {f"{role}_bias": found[f"{role}_bias"].reshape(shape[:2]) for role in ROLES}


def products(weights: Layer) -> Variants:
    """Gram products of one matrix, two and three, named by how many."""
    wide, gains = {role: torch.from_numpy(weights[role]) for role in ROLES}, torch.from_numpy(weights["gamma"])
    room = torch.empty_like(wide["query"])

    def several(count: int) -> None:
        for role in ROLES[-count:]:
            gram_products(torch.mul(wide[role], gains, out=room))

    return {str(count): partial(several, count) for count in (1, 2, 3)}


def functions(weights: Layer) -> Variants:
    """The functions of a layer in memory, named by how many matrices they are handed and what they are."""
    pair, gamma = (weights["query"], weights["key"]), weights["gamma"]
    found: Variants = {"2 product norms": partial(grams.product_norms, *pair)}
    for norm, label in (("rms", "RMSNorm"), ("layer", "LayerNorm")):
        ranges = partial(grams.logit_ranges, *pair, gamma, norm=norm)
        found[f"2 logit ranges, {label}"] = ranges
        found[f"2 logit ranges, {label}, biases"] = partial(
            ranges, norm_bias=weights["norm_bias"], query_bias=weights["query_bias"]
        )
        found[f"1 value diameters, {label}"] = partial(grams.value_diameters, weights["value"], gamma, norm)
    biases = {name: weights[name] for name in ("norm_bias", "query_bias", "key_bias")}
    rotary = partial(rotary_ranges, *pair, gamma)
    return found | {"2 rotary ranges, RMSNorm": rotary, f"2 {REPORTED}": partial(rotary, **biases)}


def layers(path: Path, shape: tuple[int, int, int]) -> Variants:
    """All ranges of the layer from its file by kind, and reading alone."""
    found: Variants = {f"3 {name}": partial(ranges, checkpoint(path, shape, *kind)) for name, kind in KINDS.items()}
    return found | {"reading": partial(reading, checkpoint(path, shape, "rms", "none", False), shape[0])}


def checkpoint(path: Path, shape: tuple[int, int, int], norm: str, position: str, biased: bool) -> Checkpoint:
    heads, d_head, d_model = shape
    slopes = tuple(alibi.slopes(heads)) if position == "alibi" else None
    sizes = Architecture("random", 1, heads, heads, d_head, d_model, norm, position, slopes, "halves", d_head**-0.5,
                         None)  # type: ignore[arg-type] # fmt: skip
    weights: dict[Role, str] = {role: role for role in ROLES}
    biases: dict[Role, str] = {role: f"{role}_bias" for role in ROLES if biased}
    layer = LayerLayout(sizes, separate(weights, d_head), separate(biases, d_head), "gamma",
                        "norm_bias" if biased else None)  # fmt: skip
    return Checkpoint(Layout((layer,), {}, {}), safetensors_file.tensors(path))


def ranges(whole: Checkpoint) -> None:
    for _ in layer_ranges(whole, 0):
        pass


def reading(whole: Checkpoint, heads: int) -> None:
    for first in range(0, heads, CHUNK):
        for role in ROLES:
            whole.projection(0, role, first, min(first + CHUNK, heads))


def limits(name: str, times: Times) -> list[Limit]:
    found = []
    for variant, rounds in times.rounds.items():
        count, _, label = variant.partition(" ")
        if label:
            read = times.rounds["reading"] if label in KINDS else [0.0] * len(rounds)
            parts = zip(rounds, read, times.rounds[count], strict=True)
            distance = statistics.median((ours - other) / gram for ours, other, gram in parts)
            found.append(Limit(f"{name}: {label}", distance, None if label == REPORTED else MOST))
    return found


def orthogonal(name: str, weights: Layer, times: Times) -> Comparison:
    gamma = weights["gamma"]
    few = [partial(alibi.logit_range, weights["query"][h], weights["key"][h], gamma) for h in range(FEW)]
    slow = interleave({"one": lambda: [one() for one in few]}, 2).seconds("one") * len(weights["query"]) / FEW
    ours = times.seconds("2 logit ranges, RMSNorm")
    return Comparison(f"{name}: orthogonal factors", slow, ours, slow / ours, 2.0, 5.0)


def guards(name: str, weights: Layer) -> list[Guard]:
    few = {key: weights[key][:FEW] for key in ("query", "key", "query_bias")}
    state = (weights["gamma"], weights["norm_bias"])
    found = grams.logit_ranges(few["query"], few["key"], *state, few["query_bias"], "layer")
    true = [alibi.logit_range(q, k, *state, b, "layer") for q, k, b in zip(*few.values(), strict=True)]
    return [Guard(f"{name}: error, LayerNorm, biases", float(np.abs(found / true - 1).max()), 1e-10)]
