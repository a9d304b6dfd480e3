"""Theorem 3.4 beyond the paper: which logit temperature an induction head should use at finite width."""

from fractions import Fraction
from functools import cache

import numpy as np
import sympy as sp

from proofs_check.evidence.margin import Margin, ball_at_least, ball_within, identity, less, worst
from proofs_check.ledger.claim import SAMPLES, Control, Effort, everywhere
from proofs_check.ledger.mathematical import ONCE, exact, mathematical, sampled, symbolic
from proofs_check.oracles.width import gaussian_grams, gram_loss
from theory.landscape import temperature as t
from theory.symbols import alpha2, dim, n_tokens

SOURCE = "KV shifting (both versions), Section 3.2, Theorem 3.4, our addition"
GAUSSIAN = "embeddings iid N(0, 1/d)"
HARD = "hard attention: the output is kappa times the target's embedding"
NEAR = (Fraction(99, 100), Fraction(1), Fraction(101, 100))
B = sp.exp(alpha2)
ONE = Fraction(1)


def falls_without_end(threshold: int = 2) -> Margin:
    """e^L - 1 = e^{kappa u} + (T - 2) e^{kappa v}: u, v fall in alpha2, v < u, u has the sign of `threshold` - B."""
    exponents = [(2 - B) / (B + n_tokens), (1 - B) / (B + n_tokens)]
    grouped = 1 + sp.exp(t.kappa * exponents[0]) + (n_tokens - 2) * sp.exp(t.kappa * exponents[1])
    slopes = [-(n_tokens + 2) * B / (B + n_tokens) ** 2, -(n_tokens + 1) * B / (B + n_tokens) ** 2]
    pairs = [
        (sp.exp(t.infinite_width_loss()), grouped),
        *((sp.diff(exponent, alpha2), slope) for exponent, slope in zip(exponents, slopes, strict=True)),
        (exponents[0] - exponents[1], 1 / (B + n_tokens)),
        (exponents[0] * (B + n_tokens), threshold - B),
    ]
    return worst([identity(left, right) for left, right in pairs])


def even_after_tilt(rate: sp.Expr = dim) -> Margin:
    """Given r, e^{rate D} times the density of D is even: the ratio of its values at D and -D is 1."""
    density = t.conditional_density() * sp.exp(rate * t.margin)
    ratio = sp.exp(sp.expand(sp.expand_log(sp.log(density / density.subs(t.margin, -t.margin)), force=True)))
    return identity(ratio, 1)


def moments_derived(sign: int = -1) -> Margin:
    """E e^{s D}: over D given r it is e^{-r a}, a = s + sign s^2/(2d), and over r a power of a; even about s = d."""
    exponent, rate = t.tilt + sign * t.tilt**2 / (2 * dim), sp.Symbol("rate", positive=True)
    tilted = sp.expand(sp.expand_power_exp(t.conditional_density() * sp.exp(t.tilt * t.margin)))
    given = sp.integrate(tilted, (t.margin, -sp.oo, sp.oo), conds="none")
    damped = sp.integrate(sp.exp(-rate * t.square) * t.square_density(), (t.square, 0, sp.oo), conds="none")
    power = (1 + 2 * rate / dim) ** (-dim / 2)
    shifted = t.moment_generating().subs(t.tilt, dim + t.tilt)
    return worst(
        [
            identity(sp.simplify(given), sp.exp(-t.square * exponent)),
            identity(damped, power),
            identity(power.subs(rate, exponent), t.moment_generating()),
            identity(sp.expand(shifted.base), sp.expand(shifted.subs(t.tilt, -t.tilt).base)),
        ]
    )


def odd_at_optimum(multiple: int = 2) -> Margin:
    """e^{-d D} D / (1 + e^{-kappa D}) at kappa = multiple * d is an odd function of D."""
    function = sp.exp(-dim * t.margin) * t.margin / (1 + sp.exp(-multiple * dim * t.margin))
    return identity(function + function.subs(t.margin, -t.margin), 0)


def convex_in_temperature(plant: int = 0) -> Margin:
    """d2/dkappa2 log(1 + sum_j e^{kappa D_j}) is a sum of squares times positive weights, here for two competitors."""
    first, second = margins = sp.symbols("first second", real=True)
    powers = [sp.exp(t.kappa * value) for value in margins]
    total = 1 + sum(powers)
    bend = sp.diff(sp.log(total), t.kappa, 2) + plant
    squares = powers[0] * first**2 + powers[1] * second**2 + powers[0] * powers[1] * (first - second) ** 2
    return identity(bend * total**2, squares)


def slope_sign(width: int, factor: Fraction, optimum: Fraction = ONE) -> Margin:
    """The slope at kappa = factor * 2d has the sign of factor - optimum; where they agree its enclosure is near 0."""
    slope = t.slope_in_temperature(factor * t.best_temperature(width), width)
    if factor == optimum:
        return ball_within(abs(slope), Fraction(1, 10**12))
    return ball_at_least(slope if factor > optimum else -slope, strict=True)


def bracket(at_double: bool, rest: int = 1) -> Margin:
    """With R = rest + (other competitors) > 1: the weights of D and -D in the slope at kappa = 2 d or d, z = d D > 0.

    At 2d the weight is 1 / (R e^{-z} + e^z), larger at z than at -z; at d it is 1 / (R + e^z), smaller. The slope
    integrates D times it against a density that is even once tilted: positive at 2d, negative at d.
    """
    others, z = sp.symbols("others z", positive=True)
    total = rest + others
    up, down = sp.exp(z), sp.exp(-z)
    if at_double:
        gap = 1 / (total * down + up) - 1 / (total * up + down)
        return identity(gap, others * (up - down) / ((total * down + up) * (total * up + down)))
    gap = 1 / (total + up) - 1 / (total + down)
    return identity(gap, -(up - down) / ((1 + others + up) * (1 + others + down)))


def jensen_minimum(best: sp.Expr = dim) -> Margin:
    """1 + 2 kappa/d - kappa^2/d^2 = 2 - (kappa - best)^2 / d^2, so the bound is least at `best`."""
    base = t.moment_generating().subs(t.tilt, t.kappa).base
    least = sp.log(1 + (n_tokens - 1) * 2 ** (-dim / 2))
    return worst(
        [
            identity(base, 2 - (t.kappa - best) ** 2 / dim**2),
            identity(t.jensen_bound().subs(t.kappa, best), least),
        ]
    )


def tangent(plant: int = 0) -> Margin:
    """log(1 + m) + (s - m)/(1 + m) - log(1 + s) is 0 with slope 0 at s = m and has second derivative > 0 in s."""
    s, mean = sp.symbols("s mean", positive=True)
    gap = sp.log(1 + mean) + (s - mean) / (1 + mean) - sp.log(1 + s)
    return worst(
        [
            identity(gap.subs(s, mean), plant),
            identity(sp.diff(gap, s).subs(s, mean), 0),
            identity(sp.diff(gap, s, 2), (1 + s) ** -2),
        ]
    )


@cache
def _margins(tokens: int, width: int, seed: int, count: int = 20_000) -> np.ndarray:
    """Margins of T - 1 competitors (count, T - 1), by embeddings themselves."""
    rng = np.random.default_rng(seed)
    target = rng.normal(size=(count, width)) / np.sqrt(width)
    others = rng.normal(size=(count, tokens - 1, width)) / np.sqrt(width)
    return np.einsum("njd,nd->nj", others, target) - (target**2).sum(axis=1)[:, None]


def _three_sigma(values: np.ndarray) -> float:
    return 3 * float(values.std(ddof=1)) / float(np.sqrt(len(values)))


def sampled_slope(tokens: int, width: int, temperature: float, rising: bool) -> Margin:
    """Monte-Carlo slope of E L in kappa, above 0 (`rising`) or below it by more than three standard errors."""
    margins = _margins(tokens, width, seed=tokens + width)
    powers = np.exp(temperature * margins)
    slope = (powers * margins).sum(axis=1) / (1 + powers.sum(axis=1))
    mean = float(slope.mean())
    return less(_three_sigma(slope), mean if rising else -mean)


def soft_attention(
    tokens: int, key_factor: float, read_factor: float, center: float = 1.1, count: int = 4000
) -> Margin:
    """d = 8, alpha = (0, gamma), beta = (kappa, 0): E L at gamma = kappa = center * d lies below that at the factors.

    The same embeddings at both, so the difference is known to within three standard errors.
    """
    width = 8
    best, other = (
        _soft_losses(tokens, width, key * width, read * width, count)
        for key, read in ((center, center), (key_factor, read_factor))
    )
    gap = other - best
    return less(_three_sigma(gap), float(gap.mean()))


@cache
def _soft_losses(tokens: int, width: int, gamma: float, temperature: float, count: int) -> np.ndarray:
    grams = gaussian_grams(np.random.default_rng(tokens), width, tokens, count)
    return gram_loss((0.0, gamma, temperature, 0.0), tokens // 2, grams)


def _widths(effort: Effort) -> list[dict[str, object]]:
    widths = (2, 4, 8) if effort is Effort.QUICK else (2, 4, 6, 8, 12, 16)
    return [{"width": d, "factor": f} for d in widths for f in NEAR]


CONVEX = symbolic(
    "the loss is strictly convex in kappa",
    convex_in_temperature,
    ONCE,
    Control("one more", lambda: convex_in_temperature(1)),
)
CLAIMS = (
    mathematical(
        "kv.beyond.temperature.infinite",
        SOURCE,
        "At d = infinity, alpha = (0, gamma), beta = (kappa, 0) with kappa > 0 the loss falls in gamma, and in kappa "
        "where gamma > log 2, towards 0: the optimum is at infinity.",
        symbolic(
            "both exponents and their slopes in gamma; the larger one has the sign of 2 - e^gamma",
            falls_without_end,
            ONCE,
            Control("threshold at gamma = 0", lambda: falls_without_end(1)),
        ),
        formula=r"L=\log\left(1+e^{\kappa(2-e^{\gamma})/(e^{\gamma}+T)}+(T-2)e^{\kappa(1-e^{\gamma})/(e^{\gamma}+T)}\right)",
        hypotheses=("2 <= i <= T - 2", "logits at d = infinity (kv.eq10.corrected)"),
        coverage=everywhere("Both exponents and their slopes are identities in gamma, kappa and T as free symbols."),
        is_correction=True,
    ),
    mathematical(
        "kv.beyond.temperature.one_competitor",
        SOURCE,
        "With one competitor the loss E log(1 + e^{kappa D}), D = x.u - |u|^2, has its only minimum at kappa = 2 d, "
        "exactly and at every width. Only x need be Gaussian: |u| may follow any law.",
        symbolic(
            "given |u|^2 the density of D is e^{-d D} times an even function, every d",
            even_after_tilt,
            ONCE,
            Control("e^{-2 d D}", lambda: even_after_tilt(2 * dim)),
        ),
        symbolic(
            "so at kappa = 2 d the slope E[D / (1 + e^{-kappa D})] integrates an odd function",
            odd_at_optimum,
            ONCE,
            Control("kappa = d", lambda: odd_at_optimum(1)),
        ),
        CONVEX,
        exact(
            "enclosed slope: negative at 0.99, 0 at 1, positive at 1.01 times 2 d; d = 2, 4, 8 (full: to 16)",
            slope_sign,
            _widths,
            Control(
                "the optimum at 1.02 times 2 d",
                lambda **p: slope_sign(**p, optimum=Fraction(51, 50)),
                ({"width": 8, "factor": NEAR[2]},),
            ),
        ),
        formula=r"\kappa^*=2d\text{ minimises }E\log(1+e^{\kappa D})",
        hypotheses=(GAUSSIAN, HARD),
        coverage=everywhere(
            "Given |u| the tilted density of D is even for every d, so the slope at 2 d is 0 by symmetry, whatever "
            "the law of |u|, and strict convexity leaves no other minimum."
        ),
        note="The finite optimum is due to fluctuating norms: where |x| = |u| = 1, D = -|x - u|^2/2 is negative, and "
        "the loss falls in kappa towards 0.",
        is_correction=True,
    ),
    mathematical(
        "kv.beyond.temperature.several_competitors",
        SOURCE,
        "With two competitors or more the optimal temperature lies strictly between d and 2 d, at every width.",
        symbolic(
            "given |u| and the other margins, the tilted slope weighs D against -D: more at kappa = 2 d, less at d",
            bracket,
            ({"at_double": True}, {"at_double": False}),
            Control("2 in place of the target's 1", lambda at_double: bracket(at_double, rest=2)),
        ),
        CONVEX,
        sampled(
            "Monte-Carlo slopes at d and 2 d, three standard errors, (T, d) = (3, 2), (10, 4), (30, 8)",
            sampled_slope,
            tuple(
                {"tokens": t, "width": d, "temperature": float(f * d), "rising": f == 2}
                for t, d in ((3, 2), (10, 4), (30, 8))
                for f in (1, 2)
            ),
            Control("rising at d", None, ({"tokens": 30, "width": 8, "temperature": 8.0, "rising": True},)),
            Control("falling at 2 d", None, ({"tokens": 30, "width": 8, "temperature": 16.0, "rising": False},)),
        ),
        formula=r"d<\kappa^*<2d",
        hypotheses=(GAUSSIAN, HARD, "T >= 3"),
        coverage=everywhere(
            "The weights of D and -D are compared for any d and any positive sum over the other competitors; the "
            "slope is an integral of them, and the loss is convex in kappa."
        ),
        is_correction=True,
    ),
    mathematical(
        "kv.beyond.temperature.bound",
        SOURCE,
        "E L <= log(1 + (T-1)(1 + 2 kappa/d - kappa^2/d^2)^{-d/2}), least at kappa = d: log(1 + (T-1) 2^{-d/2}).",
        symbolic(
            "E e^{s D} by the Gaussian and the chi-square integral, every d; it is even about s = d",
            moments_derived,
            ONCE,
            Control("s + s^2/2d for s - s^2/2d", lambda: moments_derived(1)),
        ),
        symbolic(
            "the base is 2 - (kappa - d)^2/d^2",
            jensen_minimum,
            ONCE,
            Control("centred at 2 d", lambda: jensen_minimum(2 * dim)),
        ),
        symbolic(
            "Jensen: log(1 + s) lies below its tangent at the mean",
            tangent,
            ONCE,
            Control("a tangent one higher", lambda: tangent(1)),
        ),
        formula=r"E\,L\le\log\left(1+(T-1)\left(1+\frac{2\kappa}{d}-\frac{\kappa^2}{d^2}\right)^{-d/2}\right)",
        hypotheses=(GAUSSIAN, HARD, "kappa < (1 + sqrt 2) d"),
        coverage=everywhere("Each step is an identity or a tangent in free symbols, for every d, T and kappa."),
        is_correction=True,
    ),
    mathematical(
        "kv.beyond.temperature.soft",
        SOURCE,
        "With soft attention at d = 8, T = 8 and 30, alpha = (0, gamma) and beta = (kappa, 0), the expected loss is "
        "lower at gamma = kappa = 1.1 d than with either or both of them at 0.6 d or 1.7 d.",
        sampled(
            "4000 sentences, the same embeddings at both points, three standard errors",
            soft_attention,
            tuple(
                {"tokens": t, "key_factor": key, "read_factor": read}
                for t in (8, 30)
                for key in (0.6, 1.1, 1.7)
                for read in (0.6, 1.1, 1.7)
                if (key, read) != (1.1, 1.1)
            ),
            Control(
                "0.6 d is best",
                lambda **p: soft_attention(**p, center=0.6),
                tuple({"tokens": t, "key_factor": 1.1, "read_factor": 1.1} for t in (8, 30)),
            ),
        ),
        formula=r"E\,L(1.1d,1.1d)<E\,L(\gamma,\kappa),\quad\gamma,\kappa\in\{0.6d,1.1d,1.7d\}",
        hypotheses=(GAUSSIAN, "i = T/2"),
        coverage=SAMPLES,
        is_correction=True,
    ),
)
