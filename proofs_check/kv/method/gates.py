"""Appendix F.1 of the KV-shifting paper: gated, clipped and signed coefficients."""

import sympy as sp

from proofs_check.evidence.margin import Margin, worst
from proofs_check.kv.induction.general_checks import nonnegative
from proofs_check.ledger.claim import INSTANCES, Claim, Control, Severity, Verdict, everywhere
from proofs_check.ledger.mathematical import ONCE, identities, mathematical, symbolic
from theory.shift.algebra import mixing_matrix

APPENDIX = "KV shifting (final), Appendix F.1"
FIRST = "KV shifting (first version), Section 4.6"
BOTH = f"{APPENDIX}; first version, Section 4.6"
a, b = sp.symbols("a b", real=True)


def _sigmoid(x: sp.Expr) -> sp.Expr:
    return 1 / (1 + sp.exp(-x))


def _gate_sums(beta2_of: str) -> Margin:
    """alpha1 + alpha2 and beta1 + beta2 for the gate, beta2 being 1 minus the named coefficient."""
    gates = {"alpha1": _sigmoid(a), "alpha2": 1 - _sigmoid(a), "beta1": _sigmoid(b)}
    return identities([gates["alpha1"] + gates["alpha2"], gates["beta1"] + 1 - gates[beta2_of]], [1, 1])


def _by_cases(low: int = 0, high: int = 1) -> Margin:
    """The clip is 0 below 0, its argument between, 1 above: at the ends of the three cases it is 0, 0 and 1, 1."""
    below, above = sp.symbols("below above", positive=True)
    share = 1 / (1 + below)  # any number strictly between 0 and 1
    found = [sp.Min(sp.Max(at, low), high) for at in (-below, sp.Integer(0), share, sp.Integer(1), 1 + above)]
    return identities(found, [0, 0, share, 1, 1])


def _one_sign(sign: int = 1) -> Margin:
    """Product of a multiple c of two coefficients (the second of the given sign): c^2 times theirs, so not below 0."""
    scale, gammas = sp.Symbol("c", real=True), sp.symbols("gamma1 gamma2", nonnegative=True)
    return nonnegative((scale * gammas[0]) * (sign * scale * gammas[1]))


def _no_logit_below_0(signs: tuple[int, int] = (1, 1), read_out: int = 1) -> Margin:
    """A B A C: each coordinate of sum w_s (beta1 v_s + beta2 v_{s-1}) over positive weights, v = read_out * one-hot
    tokens, beta1 and beta2 of the given signs.
    """
    betas = [sign * size for sign, size in zip(signs, sp.symbols("beta1 beta2", nonnegative=True), strict=True)]
    values = mixing_matrix(betas, 4) * sp.Matrix([[1, 0, 0], [0, 1, 0], [1, 0, 0], [0, 0, 1]])
    logits = read_out * sp.Matrix([sp.symbols("w1:5", positive=True)]) * values
    return worst([nonnegative(logit) for logit in logits])


CLAIMS: tuple[Claim, ...] = (
    mathematical(
        "kv.appF1.gate",
        APPENDIX,
        "KV shifting gate: alpha1 = sigmoid(a), beta1 = sigmoid(b), alpha2 = 1 - alpha1, beta2 = 1 - alpha1 keep both "
        "sums at 1.",
        symbolic(
            "a and b free, beta2 = 1 - beta1",
            _gate_sums,
            ({"beta2_of": "beta1"},),
            Control("beta2 = 1 - alpha1, as printed", points=({"beta2_of": "alpha1"},)),
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
            _gate_sums,
            ({"beta2_of": "beta1"},),
            Control("1 - alpha2, as printed", points=({"beta2_of": "alpha2"},)),
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
        symbolic(
            "the three cases, the argument free in each",
            _by_cases,
            ONCE,
            Control("from -1 on", lambda: _by_cases(low=-1)),
            Control("up to 2", lambda: _by_cases(high=2)),
            Control("the maximum alone", lambda: _by_cases(high=sp.oo)),
            Control("the minimum alone", lambda: _by_cases(low=-sp.oo)),
        ),
        formula=r"0\le\min(\max(\alpha_i,0),1)\le1",
        coverage=everywhere("Below 0, between and above 1 are the only cases, and the argument is free in each."),
    ),
    mathematical(
        "kv.appF1.richer",
        BOTH,
        "A wider range of alpha and beta may enable richer features: opposite signs are out of reach of gate and clip.",
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
        symbolic(
            "A B A C, W_V W_O = I: no logit falls below 0, an absent token's, for any weights and betas >= 0",
            _no_logit_below_0,
            ONCE,
            Control("beta2 < 0", lambda: _no_logit_below_0((1, -1))),
            Control("beta1 < 0", lambda: _no_logit_below_0((-1, 1))),
            Control("W_V W_O = -I with beta >= 0", lambda: _no_logit_below_0(read_out=-1)),
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
