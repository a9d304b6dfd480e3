"""Margins of the claims on dropped tokens: what a window loses, with and without a slope; symbols, rationals, balls.

Sums over tokens are written out term by term or as geometric sums checked against them; nothing comes from `theory`
but the numbers under test.
"""

from collections.abc import Sequence
from fractions import Fraction

import sympy as sp
from flint import arb

from proofs_check.evidence.margin import Margin, ball_at_least, identity, less, same, worst
from proofs_check.razor.cache.compensation_heads import dyadic_head, symbolic_head

SLOPE, EPS, RANGE = sp.symbols("slope eps range", positive=True)


def moves_more(weights: Sequence[int], first: int) -> Margin:
    """Values 1 from index `first` on, 0 before: the output moves by more than the largest dropped weight, eps. With all
    logits 0 and e^{-l} = 1/2 the printed scope is log2(1/eps), and `first` lies within it; rationals."""
    total = sum(weights)
    full, eps = Fraction(sum(weights[first:]), total), Fraction(max(weights[first:]), total)
    return worst([less(eps, full), less(Fraction(2) ** first, 1 / eps)])


def moves_by(inverse_slope: int, inverse_eps: int, scope: int, claimed: str, length: int = 40_000) -> Margin:
    """All logits 0: `scope` is the first distance that weighs at most eps in every context (the shortest decides), and
    the tokens from there on carry the claimed mass of a long one; it lies within the printed scope, -ln(eps)/l;
    in balls."""
    ratio, eps = (-arb(1) / inverse_slope).exp(), arb(1) / inverse_eps
    sums = [arb(0)]
    for distance in range(length):
        sums.append(sums[-1] + ratio**distance)
    first, before = (ratio**distance / sums[distance + 1] for distance in (scope, scope - 1))
    mass = (sums[length] - sums[scope]) / sums[length]
    claim = ball_at_least(arb("5e-4") - abs(mass - arb(claimed)))
    inside = ball_at_least(-eps.log() * inverse_slope - scope, strict=True)
    return worst([ball_at_least(eps - first), ball_at_least(before - eps), claim, inside])


def output_split(dropped: int, kept: int, swapped: bool = False) -> Margin:
    """o - o_K = T (vbar - o_K), for free weights and values and any set of dropped tokens."""
    h = symbolic_head(dropped, kept)
    against = h.full if swapped else h.kept
    return identity(sp.cancel(sp.together(h.full - h.kept - h.mass * (h.dropped_mean - against))), 0)


def output_reached(dropped: Sequence[int], kept: Sequence[int], end: int = -1) -> Margin:
    """Dropped values 1, kept values -1: the error is T times the diameter 2; rationals."""
    h = dyadic_head(dropped, [1] * len(dropped), kept, [end] * len(kept))
    return same(abs(h.full - h.kept), h.mass * 2)


def means_apart(dropped: int, kept: int, plant: int = 0) -> Margin:
    """sum p_i v_i - sum q_j u_j = sum_ij p_i q_j (v_i - u_j) where the p and the q add up to 1: two weighted means
    lie no further apart than some v_i and u_j. Free weights and values."""
    p, q = (sp.symbols(f"{n}0:{c}", positive=True) for n, c in (("p", dropped), ("q", kept)))
    v, u = (sp.symbols(f"{n}0:{c}", real=True) for n, c in (("v", dropped), ("u", kept)))
    total_p, total_q = sum(p), sum(q) + plant
    left = sum(a * x for a, x in zip(p, v, strict=True)) / total_p
    left -= sum(b * y for b, y in zip(q, u, strict=True)) / total_q
    pairs = sum(a * b * (x - y) for a, x in zip(p, v, strict=True) for b, y in zip(q, u, strict=True))
    return identity(sp.cancel(sp.together(left - pairs / (total_p * total_q))), 0)


def ends_of_a_diameter(end: int = -1) -> Margin:
    """Dropped values 1, kept values -1, any number of tokens: the output moves by 2 T."""
    h = symbolic_head(0, 0)
    moved = (h.full - h.kept).subs({sp.Symbol("u0", real=True): 1, sp.Symbol("v0", real=True): end})
    return identity(sp.cancel(sp.together(moved - 2 * h.mass)), 0)


def opposite_states(sign: int = 1) -> Margin:
    """4 d - |z - z'|^2 = |z + z'|^2 where |z|^2 = |z'|^2 = d: no two states lie further apart than z and -z."""
    d, inner = sp.symbols("d inner", real=True)
    return identity(4 * d - (2 * d - 2 * inner), sign * (2 * d + 2 * inner))


def worst_output(ratio: Fraction, lift: int, kept: int, tokens: int, turned: bool = False) -> Margin:
    """Width 1, RMSNorm: states 1 near and -1 far, logits -c x y, e^{2c} = 2^lift, e^{-l} = ratio, W_V = 1. The output
    moves by diam(V) = 2 times the sharp mass of a context of `tokens`; rationals, token by token."""
    states = [Fraction(1)] * kept + [Fraction(-1)] * (tokens - kept)
    if turned:
        states[0] = -states[0]
    top = Fraction(2) ** lift
    weights = [ratio**j * (1 if state * states[0] > 0 else top) for j, state in enumerate(states)]
    full, near = (sum(w * x for w, x in zip(weights[:n], states[:n], strict=True)) / sum(weights[:n])
                  for n in (tokens, kept))  # fmt: skip
    mass = 1 / (1 + (ratio**-kept - 1) / (1 - ratio ** (tokens - kept)) / top)
    return same(abs(full - near), 2 * mass)


def diameter(rows: Sequence[Sequence[int]], gamma: Sequence[int], z: Sequence[int], layer: bool, plain: bool = False):
    """States z and -z, |z|^2 = d: |W_V Gamma (z - (-z))|^2 against 4 d times the largest eigenvalue of A A^T,
    A = W_V Gamma P, which no pair of states exceeds; in integers."""
    scaled, width = sp.Matrix(rows) * sp.diag(*gamma), len(gamma)
    centred = scaled * (sp.eye(width) - sp.ones(width, width) / width) if layer and not plain else scaled
    state = sp.Matrix(z)
    admissible = same((state.dot(state), int(layer) * sum(z)), (width, 0))
    widest = 4 * (scaled * state).dot(scaled * state)
    found = same(sp.Integer(widest), 4 * width * max((centred * centred.T).eigenvals()))
    return worst([admissible, found])


def leave_one_out(tokens: int, plain: bool = False) -> Margin:
    """o_{-j} - o = a_j / (1 - a_j) (o - v_j), for free weights and values; 0 tokens stand for any number."""
    h = symbolic_head(1, tokens - 1) if tokens else symbolic_head(0, 0)
    factor = h.mass if plain else h.mass / (1 - h.mass)
    return identity(sp.cancel(sp.together(h.kept - h.full - factor * (h.full - h.dropped_mean))), 0)
