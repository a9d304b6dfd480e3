"""Margins of the adversary: its contexts against the bounds, the models of two words, a norm with an epsilon."""

import math
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
from flint import arb

from proofs_check.evidence.margin import Margin, at_most, ball_at_least, close, worst
from proofs_check.evidence.tolerances import OPTIMUM, ROUNDING, VISIBLE
from proofs_check.oracles.alibi import ball, ball_weights
from proofs_check.razor.scope.theorem1_checks import WITNESSES
from theory import alibi

SIZES = ((2, 1), (3, 3), (8, 4), (16, 4))


class Stack:
    """Random heads of one size, every third with W_K = -W_Q, whose own logit can be the lowest: there D_s = D."""

    def __init__(self, seed: int, count: int, mirrored: int = 3) -> None:
        rng = np.random.default_rng(seed)
        d, d_head = SIZES[seed // 4 % len(SIZES)]
        self.norm, self.biased = ("rms", "layer")[seed % 2], seed % 4 >= 2
        self.w_q, self.w_k = rng.standard_normal((2, count, d_head, d))
        self.w_k[::mirrored] = -self.w_q[::mirrored]
        self.gamma = np.exp(0.4 * rng.standard_normal((count, d)))
        self.bias = rng.standard_normal((count, d)) * self.biased
        self.shift = rng.standard_normal((count, d_head)) * self.biased
        self.slopes = rng.choice([2.0**-6, 0.05, 0.2, 1.0], count)
        wanted = 10 ** rng.uniform(-0.5, 1.4, count)
        factor = wanted / np.array([alibi.logit_range(*one) for one in self._each()])
        self.w_q, self.shift = self.w_q * factor[:, None, None], self.shift * factor[:, None]
        self.ranges = [float(alibi.logit_range(*one)) for one in self._each()]
        self.gaps = [min(float(alibi.self_gap(*one)), d) for one, d in zip(self._each(), self.ranges, strict=True)]
        self.at = [max(1, int(alibi.scope(s, d, 0.3))) for s, d in zip(self.slopes, self.ranges, strict=True)]

    def _each(self) -> Any:
        rows = zip(self.w_q, self.w_k, self.gamma, self.bias, self.shift, strict=True)
        return [(*row, self.norm) for row in rows]

    def heads(self) -> Any:
        from dynamics.scope.adversary_context import heads

        return heads(self.w_q, self.w_k, self.gamma, self.bias, self.shift, self.norm, self.slopes)


def no_context_above(seed: int, count: int, factor: float = 1.0) -> Margin:
    """Three contexts a head - for a weight, for a mass, random: the largest of reached over bound, D and D_s scaled."""
    from dynamics.scope.adversary import heaviest_masses, heaviest_weights
    from dynamics.scope.adversary_context import random_contexts

    stack = Stack(seed, count)
    lengths = [n + 1 + seed % 50 for n in stack.at]
    found = [
        heaviest_weights(stack.heads(), stack.at, starts=4, steps=30),
        heaviest_masses(stack.heads(), stack.at, lengths, starts=4, steps=30),
        random_contexts(stack.heads(), 30, seed),
    ]
    ratios = []
    for contexts in found:
        for i, context in enumerate(contexts):
            wide, gap, slope = factor * stack.ranges[i], factor * stack.gaps[i], float(stack.slopes[i])
            length = len(context.weights)
            for n in {1, min(stack.at[i], length - 1), length - 1}:
                ratios += [
                    context.weight(n) / alibi.weight_bound(n, slope, wide),
                    context.weight(n) / alibi.weight_bound(n, slope, wide, gap),
                    context.weight(n) / alibi.masked_weight_bound(n, slope, gap),
                    context.mass(n) / alibi.dropped_mass_bound(n, slope, wide),
                    context.mass(n) / alibi.dropped_mass_bound(n, slope, wide, length),
                ]
    return at_most(max(ratios), 1.0, VISIBLE)


def attained(seed: int, count: int, factor: float = 1.0) -> Margin:
    """Heads with D_s = D: the least of reached over bound, for the weight and for both masses; at least 99.9 %."""
    from dynamics.scope.adversary import heaviest_masses, heaviest_weights

    stack = Stack(4 * (seed // 4) + seed % 2, count, mirrored=1)
    lengths = [n + 20 for n in stack.at]
    found = {
        "weight": heaviest_weights(stack.heads(), stack.at, starts=4, steps=40),
        "mass": heaviest_masses(stack.heads(), stack.at, starts=4, steps=40),
        "finite": heaviest_masses(stack.heads(), stack.at, lengths, starts=4, steps=40),
    }
    ratios = []
    for i, n in enumerate(stack.at):
        slope, wide = float(stack.slopes[i]), factor * stack.ranges[i]
        ratios += [
            found["weight"][i].weight(n) / alibi.weight_bound(n, slope, wide),
            found["mass"][i].mass(n) / alibi.dropped_mass_bound(n, slope, wide),
            found["finite"][i].mass(n) / alibi.dropped_mass_bound(n, slope, wide, lengths[i]),
        ]
    return at_most(0.999, min(ratios))


@cache
def free_states(seed: int, count: int, factor: float = 1.0) -> Margin:
    """Four states moved freely reach no more of the weight at distance 2 than one query with its best keys."""
    from dynamics.scope.adversary import heaviest_weights
    from dynamics.scope.adversary_free import move_all, share

    stack = Stack(seed, count).heads()
    closed = heaviest_weights(stack, [2] * count, [4] * count, starts=8, steps=60)
    free = move_all(stack, 4, share([2]), starts=3, steps=40)
    return at_most(max(f.weight(2) / c.weight(2) for f, c in zip(free, closed, strict=True)), factor, VISIBLE)


def ranges(seed: int, count: int, factor: float = 1.0) -> Margin:
    """`logit_range`, and `self_gap` where there is no bias, against ascent over queries: difference over D."""
    from dynamics.scope.adversary import largest_gaps, largest_ranges

    stack = Stack(seed, count)
    reached = largest_ranges(stack.heads(), starts=8, steps=200).numpy()
    found = [close(reached / stack.ranges, np.full(count, factor), OPTIMUM)]
    if not stack.biased:
        gaps = largest_gaps(stack.heads(), starts=8, steps=200).numpy() - factor * np.array(stack.gaps)
        found.append(close(gaps / stack.ranges, np.zeros(count), OPTIMUM))
    return worst(found)


def two_words(name: str, further: int = 0) -> Margin:
    """Attention measured in the torch model within ROUNDING of the weight in balls; above eps, beyond the scope."""
    from dynamics.model.made.two_word import two_word_model

    head, _, _, target, other, distance, eps = WITNESSES[name]
    model = two_word_model(name)
    measured = float(model.attention(model.sentence(distance + further))[0, -1, 0])
    certified = ball_weights(head, [target, *[other] * distance])[0]
    off = ball_at_least(ball(Fraction(ROUNDING)) - abs(ball(Fraction(measured)) - certified))
    above = at_most(math.nextafter(float(eps), 1), measured)
    return worst([off, above])._replace(printed=f"{measured:.12g} in torch", true=certified.str(12))


def epsilon(inverse: int, product: int, slope: Fraction, bound: str = "gap") -> Margin:
    """RMSNorm with epsilon 1/inverse, d = 1, M = product > 0, so D_s = 0: a query at half the radius sees a token at
    distance 1 above 1/(1 + e^l); `bound` "range" asks the same of 1/(1 + e^{l - D}), D = 2 product."""
    small = ball(Fraction(1, inverse))
    query = (small / 3).sqrt()  # h / sqrt(h^2 + eps) = 1/2
    states = [1 / (1 + small).sqrt(), query / (query * query + small).sqrt()]
    own, seen = product * states[1] * states[1], product * states[1] * states[0]
    weight = 1 / (1 + (ball(slope) + own - seen).exp())
    gap = arb(0) if bound == "gap" else arb(2 * product)
    limit = 1 / (1 + (ball(slope) - gap).exp())
    return ball_at_least(weight - limit, strict=True)._replace(printed=f"at most {limit.str(6)}", true=weight.str(6))
