"""Stacks of random heads for the adversary, and its contexts held against every bound of `theory`."""

import math

import numpy as np
import torch

from dynamics.scope.adversary import heaviest_masses, heaviest_weights
from dynamics.scope.adversary_context import heads, random_contexts
from tests.theory.alibi.drawn_heads import random_head
from theory import alibi
from theory.alibi.sharp import sharp_weight
from theory.cache.dropped import output_error_bound, truncate, value_diameter

ULPS = 1 + 1e-9
SIZES = [(1, 1), (2, 1), (2, 2), (3, 2), (4, 4), (5, 8), (8, 3), (12, 4), (16, 8)]
KINDS = [(norm, biased) for norm in ("rms", "layer") for biased in (False, True)]


def stacked(found, norm, biased, **more):
    """Heads given by keyword arguments, as one stack."""
    names = ["w_q", "w_k", "gamma", *["norm_bias", "query_bias"] * biased]
    return heads(**{name: np.stack([one[name] for one in found]) for name in names}, norm=norm, **more)


class Batch:
    """Random heads of one size with their ranges and gaps, the logits scaled to a range between 0.1 and 40."""

    def __init__(self, rng, norm, biased, count, size, symmetric=False):
        self.norm, self.biased, self.arguments = norm, biased, []
        self.slopes = rng.choice([2.0**-8, 2.0**-6, 0.05, 0.2, 0.5, 1.0], count)
        for _ in range(count):
            one = random_head(rng, *size, norm, biased)
            if symmetric:
                one["w_k"] = -one["w_q"]
            factor = 10 ** rng.uniform(-1, 1.6) / alibi.logit_range(**one)
            one["w_q"] = one["w_q"] * factor
            if biased:
                one["query_bias"] = one["query_bias"] * factor
            self.arguments.append(one)
        self.ranges = [float(alibi.logit_range(**one)) for one in self.arguments]
        gaps = [float(alibi.self_gap(**one)) for one in self.arguments]
        self.gaps = [min(pair) for pair in zip(gaps, self.ranges, strict=True)]
        self.stack = self.stacked()

    def stacked(self, slopes=None):
        return stacked(self.arguments, self.norm, self.biased, slope=self.slopes if slopes is None else slopes)

    def sharp(self, i, distance):
        one = self.arguments[i]
        return sharp_weight(distance, self.slopes[i], one["w_q"], one["w_k"], one["gamma"], self.norm)


def distances_of_interest(rng, batch, far):
    """One distance a head, up to twice where its weight must have fallen to a per cent, and at most `far`."""
    reach = [2 * alibi.scope(s, wide, 0.01) for s, wide in zip(batch.slopes, batch.ranges, strict=True)]
    return [int(math.exp(rng.uniform(0, math.log(min(max(r, 2), far))))) for r in reach]


def all_contexts(rng, batch, far):
    """Random and hostile contexts of every head: (kind, head index, target, context)."""
    count, seed = len(batch.slopes), int(rng.integers(2**31))
    at = distances_of_interest(rng, batch, far)
    longer = [n + 1 + int(rng.integers(0, 200)) for n in at]
    effort = {"starts": 6, "steps": 60, "seed": seed}
    attacks = {
        "weight": heaviest_weights(batch.stack, at, **effort),
        "weight, older tokens": heaviest_weights(batch.stack, at, longer, **effort),
        "weight, masked": heaviest_weights(batch.stack, at, masked=True, **effort),
        "mass": heaviest_masses(batch.stack, at, longer, **effort),
        "mass, any length": heaviest_masses(batch.stack, at, **effort),
        "random": random_contexts(batch.stack, int(rng.integers(2, min(far, 300))), seed),
    }
    for kind, found in attacks.items():
        for i in range(count):
            n = len(found[i].distances) - 1
            yield kind, i, min(at[i], n), found[i]


def excesses(rng, batch, kind, i, target, context):
    """(name, reached / bound) for each bound that the context must respect, at its target and at other distances."""
    slope, wide, gap = float(batch.slopes[i]), batch.ranges[i], batch.gaps[i]
    n_tokens = len(context.distances)
    weights = context.weights.numpy()[::-1]
    if kind == "weight, masked":  # two tokens, and no statement about the masked ones between
        yield "masked_weight_bound", weights[1] / alibi.masked_weight_bound(target, slope, gap)
        return
    masses = weights[::-1].cumsum()[::-1]
    some = {target, *range(1, min(n_tokens, 9)), *rng.integers(1, n_tokens, 8).tolist()}
    for n in some:
        weight, mass = float(weights[n]), float(masses[n])
        yield "weight_bound", weight / alibi.weight_bound(n, slope, wide)
        yield "weight_bound with self_gap", weight / alibi.weight_bound(n, slope, wide, gap)
        yield "masked_weight_bound", weight / alibi.masked_weight_bound(n, slope, gap)
        yield "dropped_mass_bound", mass / alibi.dropped_mass_bound(n, slope, wide)
        yield "dropped_mass_bound, n_tokens", mass / alibi.dropped_mass_bound(n, slope, wide, n_tokens)
        if weight > 1e-300 and mass < 1 - 1e-6:
            # distances in units of slope: a weight just above eps must lie at a distance below the scope of eps
            yield "scope", math.exp(slope * (n - alibi.scope(slope, wide, weight)))
            yield "window_for_mass", math.exp(slope * (n - alibi.window_for_mass(slope, wide, mass)))
    if not batch.biased:
        yield "sharp_weight", float(weights[target]) / batch.sharp(i, target)
    yield from output_excesses(rng, batch, i, target, context)


def output_excesses(rng, batch, i, window, context):
    one, n_tokens = batch.arguments[i], len(context.distances)
    w_v = rng.standard_normal((3, len(one["gamma"])))
    values = context.states.numpy() @ w_v.T
    logits = np.log(np.maximum(context.weights.numpy(), 1e-320))
    found = truncate(logits, values, context.distances.numpy() >= window)
    # a difference of two sums of values of this size, so never exact below their rounding
    rounding = 1e-14 * float(np.abs(values).max())
    error = max(float(np.linalg.norm(found.full - found.truncated)) - rounding, 0.0)
    wide = value_diameter(w_v, one["gamma"], batch.norm)
    worst = alibi.dropped_mass_bound(window, float(batch.slopes[i]), batch.ranges[i], n_tokens)
    yield "output_error_bound", error / float(output_error_bound(context.mass(window), wide))
    yield "output_error_bound at the worst mass", error / float(output_error_bound(worst, wide))


def count_and_worst(norm, biased, batches, heads_each, far, seed):
    """Contexts looked at, and the largest ratio for each bound."""
    rng = np.random.default_rng([seed, biased, norm == "rms"])
    seen, worst = 0, {}
    sizes = [size for size in SIZES if norm == "rms" or size[0] > 1]
    for index in range(batches):
        batch = Batch(rng, norm, biased, heads_each, sizes[(index + seed) % len(sizes)])
        for kind, i, target, context in all_contexts(rng, batch, far):
            seen += 1
            assert torch.isfinite(context.weights).all()
            for name, ratio in excesses(rng, batch, kind, i, target, context):
                worst[name] = max(worst.get(name, 0.0), ratio)
    return seen, worst
