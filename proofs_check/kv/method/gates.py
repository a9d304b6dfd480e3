"""Appendix F.1 of the KV-shifting paper: gated, clipped and signed coefficients."""

import itertools
from fractions import Fraction

import sympy as sp

from proofs_check.evidence.margin import Margin, at_most, identity, less
from proofs_check.ledger.claim import INSTANCES, Claim, Control, Severity, Verdict, everywhere
from proofs_check.ledger.mathematical import ONCE, exact, identities, mathematical, symbolic

APPENDIX = "KV shifting (final), Appendix F.1"
FIRST = "KV shifting (first version), Section 4.6"
BOTH = f"{APPENDIX}; first version, Section 4.6"
a, b = sp.symbols("a b", real=True)
FIFTEEN = {"alpha": (Fraction("0.08"), Fraction("0.43")), "beta": (Fraction("0.34"), Fraction("-0.15"))}
Pair = tuple[Fraction, Fraction]


def _sigmoid(x: sp.Expr) -> sp.Expr:
    return 1 / (1 + sp.exp(-x))


def _gate_sums(beta2_of: str) -> Margin:
    """alpha1 + alpha2 and beta1 + beta2 for the gate, beta2 being 1 minus the named coefficient."""
    gates = {"alpha1": _sigmoid(a), "alpha2": 1 - _sigmoid(a), "beta1": _sigmoid(b)}
    sums = (gates["alpha1"] + gates["alpha2"], gates["beta1"] + 1 - gates[beta2_of])
    return identities(sums, (sp.Integer(1), sp.Integer(1)))


def clip(value: Fraction) -> Fraction:
    return min(max(value, Fraction(0)), Fraction(1))


def _stays(value: Fraction, bound=clip) -> Margin:
    return at_most(abs(2 * bound(value) - 1), 1)


def _by_cases(low: int = 0, high: int = 1) -> Margin:
    """The clip is 0 below 0, its argument between, 1 above: at the ends of the three cases it is 0, 0 and 1, 1."""
    value = sp.Symbol("value", real=True)
    bounded = sp.Min(sp.Max(value, low), high).rewrite(sp.Piecewise)
    below, above = (sp.Symbol(name, positive=True) for name in ("below", "above"))
    share = 1 / (1 + below)  # any number strictly between 0 and 1
    found = [bounded.subs(value, at) for at in (-below, sp.Integer(0), share, sp.Integer(1), 1 + above)]
    return identities(found, [sp.Integer(0), sp.Integer(0), share, sp.Integer(1), sp.Integer(1)])


def _out_of_reach(target: Pair) -> Margin:
    """The one share g and scale g1 + g2 of W that would give the target have g (1 - g) < 0: outside of [0, 1]."""
    share = target[0] / (target[0] + target[1])
    return less(share * (1 - share), Fraction(0))


def _one_sign(sign: int = 1) -> Margin:
    """Product of a multiple c of two coefficients (the second of the given sign): c^2 times theirs, so not below 0."""
    scale, gammas = sp.Symbol("c", real=True), sp.symbols("gamma1 gamma2", nonnegative=True)
    product = (scale * gammas[0]) * (sign * scale * gammas[1])
    return identity(product, scale**2 * gammas[0] * gammas[1])


def _least_logit(weights: tuple[Fraction, ...], beta: Pair, sign: int = 1) -> Margin:
    """Smallest coordinate of sum w_s (beta1 v_s + beta2 v_{s-1}), v = sign * one-hot tokens A B A C, at least 0."""
    logits = [Fraction(0)] * 3
    sentence = (0, 1, 0, 2)
    for place, weight in enumerate(weights):
        logits[sentence[place]] += sign * weight * beta[0]
        if place:
            logits[sentence[place - 1]] += sign * weight * beta[1]
    return at_most(Fraction(0), min(logits))


GRID = [Fraction(n, 4) for n in range(-8, 13)]
BETAS = [(Fraction(p, 4), Fraction(q, 4)) for p in range(5) for q in range(5)]
WEIGHTS = [tuple(Fraction(n, sum(w)) for n in w) for w in itertools.product((1, 2, 5), repeat=4)]
COPIES = [{"weights": w, "beta": beta} for w in WEIGHTS[::5] for beta in BETAS]
OPPOSITE = [(p, q) for p in GRID for q in GRID if p * q < 0 and p + q != 0]
SIGNED = [{"target": target} for target in (FIFTEEN["beta"], *OPPOSITE)]

CLAIMS: tuple[Claim, ...] = (
    mathematical(
        "kv.appF1.gate",
        APPENDIX,
        "KV shifting gate: alpha1 = sigmoid(a), beta1 = sigmoid(b), alpha2 = 1 - alpha1, beta2 = 1 - alpha1 keep both "
        "sums at 1.",
        symbolic(
            "a and b free, beta2 = 1 - beta1",
            lambda: _gate_sums("beta1"),
            ONCE,
            Control("beta2 = 1 - alpha1, as printed", lambda: _gate_sums("alpha1")),
        ),
        verdict=Verdict.TYPO,
        note="beta2 = 1 - beta1.",
        formula=r"\alpha_1=\mathrm{sigmoid}(a),\quad\beta_1=\mathrm{sigmoid}(b),\quad\alpha_2=1-\alpha_1,\quad\beta_2"
        r"=1-\alpha_1",
        severity=Severity.MISPRINT,
        coverage=everywhere("a and b are free."),
    ),
    mathematical(
        "kv1.sec4.6.gate",
        FIRST,
        "KV shifting gate: alpha2 = 1 - alpha1 and beta = 1 - alpha2 keep both sums at 1.",
        symbolic(
            "a and b free, beta2 = 1 - beta1",
            lambda: _gate_sums("beta1"),
            ONCE,
            Control("1 - alpha2, as printed", lambda: _gate_sums("alpha2")),
        ),
        defect="kv.appF1.gate",
        verdict=Verdict.TYPO,
        note="beta2 = 1 - beta1.",
        formula=r"\alpha_2=1-\alpha_1,\quad\beta=1-\alpha_2",
        severity=Severity.MISPRINT,
        coverage=everywhere("a and b are free."),
    ),
    mathematical(
        "kv.appF1.clip",
        BOTH,
        "KV shifting 0 to 1: min(max(alpha_i, 0), 1) stays between 0 and 1.",
        exact(
            "quarters from -2 to 3",
            _stays,
            [{"value": v} for v in GRID],
            Control("the maximum alone", lambda value: _stays(value, lambda v: max(v, Fraction(0)))),
            Control("the minimum alone", lambda value: _stays(value, lambda v: min(v, Fraction(1)))),
        ),
        symbolic(
            "the three cases, the argument free in each",
            _by_cases,
            ONCE,
            Control("from -1 on", lambda: _by_cases(low=-1)),
            Control("up to 2", lambda: _by_cases(high=2)),
        ),
        formula=r"0\le\min(\max(\alpha_i,0),1)\le1",
        coverage=everywhere("Below 0, between and above 1 are the only cases, and the argument is free in each."),
    ),
    mathematical(
        "kv.appF1.richer",
        BOTH,
        "A wider range of alpha and beta may enable richer features: opposite signs are out of reach of gate and clip.",
        exact(
            "footnote 15's betas, and quarters of opposite signs and sum other than 0; any scale of the projection",
            _out_of_reach,
            SIGNED,
            Control("footnote 15's alphas, of one sign", points=[{"target": FIFTEEN["alpha"]}]),
        ),
        symbolic(
            "any multiple of two coefficients >= 0 has a product >= 0, all three free",
            _one_sign,
            ONCE,
            Control("coefficients of opposite signs", lambda: _one_sign(-1)),
        ),
        formula=r"\beta_1\beta_2<0\Rightarrow(\beta_1,\beta_2)\ne c(\gamma_1,\gamma_2),\quad\gamma_1,\gamma_2\ge0",
        reading="Richer means out of reach: no scale of the projection makes up for the bound.",
        coverage=everywhere("Gate and clip keep both coefficients >= 0, and a common factor c enters as c^2."),
    ),
    mathematical(
        "kv.appF1.anti_copying",
        BOTH,
        "Restricting beta2 >= 0 is likely to limit anti-copying heads.",
        exact(
            "A B A C, W_V W_O = I: no logit falls below 0, an absent token's, for rational weights and betas >= 0",
            _least_logit,
            COPIES,
            Control(
                "beta2 = -1/4", lambda weights, beta: _least_logit(weights, (Fraction(0), Fraction(-1, 4))), COPIES[:1]
            ),
            Control("W_V W_O = -I with beta >= 0", lambda weights, beta: _least_logit(weights, beta, -1)),
        ),
        verdict=Verdict.HOLDS_IF,
        note="Only with the sign of W_V W_O held fixed, and beta1 >= 0 too: with W_V W_O = -I, alpha = (0, 1) and "
        "beta = (1, 0) search the prefix and lower its successor without any negative coefficient.",
        formula=r"\beta_1,\beta_2\ge0,\quad W_VW_O=I\Rightarrow l_x\ge0",
        hypotheses=("W_V W_O = I", "beta1 >= 0"),
        severity=Severity.REPAIRABLE,
        coverage=INSTANCES,
    ),
)
