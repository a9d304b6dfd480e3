"""Attacks on receipts: random, worst-placed and climbing contexts of random layers, every step held to its bound."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from dynamics.razor.cache import RazorCache
from dynamics.razor.plan import RazorPlan
from dynamics.razor.receipt import Receipts
from dynamics.razor.weighed import Weighed, on_sphere
from theory import alibi
from theory.cache import reach

KINDS = ("random", "worst placed", "climbing", "any keys and values")
CLIMB, BATCH = 12, 128  # proposals of a climbing context; contexts at a time
Array = np.ndarray


class Layer(NamedTuple):
    """One attention layer: weights (heads, d_head, d_model), biases, a norm, slopes or None, and what a receipt knows.

    With `mixture`, (kv heads, 2), keys and values are mixed with those of the token before.
    """

    query: Array
    key: Array
    value: Array
    gamma: Array
    norm_bias: Array | None
    biases: tuple[Array, Array, Array] | None
    norm: str
    slopes: Tensor | None
    scale: float
    mixture: Array | None
    weighed: Weighed


@dataclass
class Tally:
    """Steps held to a bound (one query of one head that has forgotten something), by kind; `closest` is the largest
    measured / bound, `closest_range` that of the bound from the range alone."""

    steps: dict[str, int] = field(default_factory=lambda: dict.fromkeys(KINDS, 0))
    violations: int = 0
    closest: dict[str, float] = field(default_factory=lambda: dict.fromkeys(KINDS, 0.0))
    closest_range: dict[str, float] = field(default_factory=lambda: dict.fromkeys(KINDS, 0.0))
    vacuous: int = 0

    @property
    def total(self) -> int:
        return sum(self.steps.values())


def attack(steps: int, seed: int = 0, told: Callable[[int], None] = lambda done: None) -> Tally:
    """Hold at least `steps` steps to their bounds; told(done) after each layer. Raises ValueError for steps < 1."""
    if steps < 1:
        raise ValueError(f"steps must be at least 1, got {steps}")
    tally, number = Tally(), 0
    while tally.total < steps:
        rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(number,)))
        attack_layer(rng, KINDS[number % len(KINDS)], tally)
        number += 1
        told(min(tally.total, steps))
    return tally


def attack_layer(rng: np.random.Generator, kind: str, tally: Tally) -> None:
    """Draw a layer, a plan and contexts of one of KINDS, and hold every step to its bounds."""
    layer, n = random_layer(rng), int(rng.integers(12, 28))
    plan = random_plan(rng, len(layer.query), len(layer.key), layer.slopes is not None)
    if kind == "any keys and values":
        _hold(plan, any_vectors(rng, layer, n), layer, kind, tally)
        return
    rows = BATCH // 8 if kind == "climbing" else BATCH
    states = on_sphere(rng.standard_normal((rows, n, layer.gamma.size)), layer.norm)
    if kind == "worst placed":
        states = worst_placed(rng, layer, plan, states)
    best = _hold(plan, vectors(layer, states), layer, kind, tally)
    for _ in range(CLIMB if kind == "climbing" else 0):
        steps = 10.0 ** rng.uniform(-2, 0.3, (len(states), 1, 1)) * (rng.random((*states.shape[:2], 1)) < 0.4)
        moved = on_sphere(states + steps * rng.standard_normal(states.shape), layer.norm)
        found = _hold(plan, vectors(layer, moved), layer, kind, tally)
        states = np.where((found > best)[:, None, None], moved, states)
        best = np.maximum(best, found)


def _hold(plan: RazorPlan, tokens: tuple[Tensor, Tensor, Tensor], layer: Layer, kind: str, tally: Tally) -> Array:
    """Run a cache with receipts, count, and return each context's largest measured / bound."""
    weighed = None if kind == "any keys and values" else [layer.weighed]
    receipts = Receipts(RazorCache(plan), weighed, measure=True)
    for part in zip(*(x.split(9, dim=2) for x in tokens), strict=True):
        receipts(0, *part, scale=layer.scale, slopes=layer.slopes)
    found = receipts.receipt()
    forgets = found.forgetful
    tally.steps[kind] += int(forgets.sum())
    tally.violations += found.violations
    tally.vacuous += round(found.vacuous * int(forgets.sum()))
    ratio = _ratio(found.measured, found.bound, forgets)
    tally.closest[kind] = max(tally.closest[kind], float(ratio.max()))
    if weighed is not None:
        ranged = _ratio(found.measured, found.ranged, forgets)
        tally.closest_range[kind] = max(tally.closest_range[kind], float(ranged.max()))
    return ratio.max((1, 2, 3))


def _ratio(measured: Array, bound: Array, forgets: Array) -> Array:
    """measured / bound where something is forgotten and can be lost, 0 elsewhere."""
    some = forgets & (bound > 0)
    return np.where(some, measured / np.where(some, bound, 1.0), 0.0)


def random_layer(rng: np.random.Generator) -> Layer:
    """A layer of 1 to 4 heads with logits of a range between 0.1 and 40; values are the keys of some."""
    kv_heads, group, d_head = int(rng.integers(1, 3)), int(rng.integers(1, 3)), int(rng.choice([1, 1, 2, 4, 8]))
    d_model = int(rng.choice([2, 3, 6, 12]))
    norm = str(rng.choice(["rms", "layer"])) if d_model > 2 else "rms"
    query = rng.standard_normal((kv_heads * group, d_head, d_model))
    key, value = rng.standard_normal((2, kv_heads, d_head, d_model))
    value = rng.choice([-1.0, 1.0]) * key if rng.random() < 0.5 else value
    gamma = np.exp(0.5 * rng.standard_normal(d_model))
    mixture = rng.uniform(-1, 1.5, (kv_heads, 2)) if rng.random() < 0.3 else None
    norm_bias, biases = None, None
    if mixture is None and rng.random() < 0.5:
        norm_bias = rng.standard_normal(d_model)
        biases = tuple(rng.standard_normal((len(w), d_head)) for w in (query, key, value))
    wide = max(alibi.logit_range(q, key[h // group], gamma, norm_bias, None, norm) for h, q in enumerate(query))
    query *= 10 ** rng.uniform(-1, 1.6) / max(wide, 1e-3)
    slopes = torch.tensor(10 ** rng.uniform(-2.5, 0.3, len(query))) if rng.random() < 0.6 else None
    asked, *seen = (None, None, None) if biases is None else biases
    keys, values = (
        of(w, gamma, norm_bias, bias, norm, mixture)
        for of, w, bias in zip((reach.projected, reach.values), (key, value), seen, strict=True)
    )
    queries = reach.projected(query, gamma, norm_bias, asked, norm)
    return Layer(query, key, value, gamma, norm_bias, biases, norm, slopes, 1 / math.sqrt(d_head), mixture,
                 Weighed(keys, values, queries))  # fmt: skip


def random_plan(rng: np.random.Generator, heads: int, kv_heads: int, sloped: bool) -> RazorPlan:
    """A plan in which every head forgets, after a few tokens."""
    kind = str(rng.choice(["none", "none", "mean", "centred", *["alibi"] * sloped]))
    share = Fraction(str(rng.choice(["0", "0", "1/5", "1/2"])))
    return RazorPlan(heads, kv_heads, (frozenset(),), sinks=int(rng.integers(0, 4)), buffer=int(rng.integers(1, 7)),
                     share=share, compensation=kind, prompt=int(rng.integers(1, 9)))  # fmt: skip


def vectors(layer: Layer, states: Array) -> tuple[Tensor, Tensor, Tensor]:
    """Queries, keys and values (batch, heads, n, d) of states (batch, n, d_model), in float64."""
    post = states * layer.gamma + (0.0 if layer.norm_bias is None else layer.norm_bias)
    found = [np.einsum("bnm,hdm->bhnd", post, w) for w in (layer.query, layer.key, layer.value)]
    if layer.biases is not None:
        found = [x + bias[:, None, :] for x, bias in zip(found, layer.biases, strict=True)]
    if layer.mixture is not None:
        own, earlier = (layer.mixture[:, j, None, None] for j in (0, 1))
        found[1:] = [own * x + earlier * np.pad(x, ((0, 0), (0, 0), (1, 0), (0, 0)))[:, :, :-1] for x in found[1:]]
    return tuple(torch.from_numpy(np.ascontiguousarray(x)) for x in found)


def worst_placed(rng: np.random.Generator, layer: Layer, plan: RazorPlan, states: Array) -> Array:
    """Contexts (batch, n, d_model) against the query of their last token: what it forgets has the key of largest
    logit, or a value far to one side, or both; what it keeps the opposite. Every context mixes the aims anew."""
    n, gamma, head = states.shape[1], layer.gamma, int(rng.integers(len(layer.query)))
    kv_head = head // plan.group
    query = vectors(layer, states[:, -1:])[0][:, head, 0].numpy()
    to_key = _unit(query @ layer.key[kv_head] * gamma)
    side = rng.standard_normal((len(states), layer.value.shape[1]))
    to_value = _unit(side @ layer.value[kv_head] * gamma)
    aims = rng.choice([0.0, 0.1, 1.0], (2, len(states), 1)) * rng.choice([1.0, 1.0, -1.0], (2, len(states), 1)) + 1e-3
    target = aims[0] * to_key + aims[1] * to_value
    at = np.arange(n)
    gone = (at >= plan.sinks) & (at < plan.seen_from(n))
    placed = np.where(gone[:, None], target[:, None], -target[:, None]) + rng.choice([0.0, 0.1]) * states
    placed[:, -1] = states[:, -1]
    return on_sphere(placed, layer.norm)


def any_vectors(rng: np.random.Generator, layer: Layer, n: int) -> tuple[Tensor, Tensor, Tensor]:
    """Queries, keys and values of no layer: heavy tails, few different ones, far from 0, in any precision."""
    size, found = layer.query.shape[1], []
    dtype = (torch.float64, torch.float32, torch.bfloat16)[rng.integers(3)]
    for heads in (len(layer.query), len(layer.key), len(layer.key)):
        x = rng.standard_normal((BATCH, heads, n, size)) * 10 ** rng.uniform(-1.5, 1.0)
        tail = rng.integers(3)
        x = np.sign(x) * 2 if tail == 1 else x * np.exp(rng.standard_normal((BATCH, heads, n, 1))) if tail == 2 else x
        x = x + rng.choice([0.0, 3.0]) * rng.standard_normal((BATCH, heads, 1, size))
        found.append(torch.from_numpy(x).to(dtype))
    return tuple(found)


def _unit(x: Array) -> Array:
    return x / np.maximum(np.linalg.norm(x, axis=-1, keepdims=True), 1e-12)


def rows(tally: Tally) -> Iterator[tuple[str, int, float, float]]:
    """Kind, steps, closest and closest to the bound from the range."""
    for kind in KINDS:
        yield kind, tally.steps[kind], tally.closest[kind], tally.closest_range[kind]
