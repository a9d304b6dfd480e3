"""Section 2.2 and Appendix F of the KV-shifting paper: what the initial coefficients do to keys and values."""

from fractions import Fraction

import sympy as sp

from proofs_check.evidence.margin import Margin, different, identity, same
from proofs_check.ledger.claim import WITNESSED, Claim, Control, Severity, Verdict, everywhere
from proofs_check.ledger.mathematical import ONCE, exact, identities, mathematical, symbolic
from theory.shift import initialisation as init
from theory.shift.algebra import mixing_matrix
from theory.symbols import alpha1

SECTION = "KV shifting (both versions), Section 2.2"
inner = sp.Symbol("c", real=True)
angle = sp.Symbol("t", real=True)
SLICE = (alpha1, 1 - alpha1)


def _average(expression: sp.Expr) -> sp.Expr:
    """Mean over alpha1 ~ U(0, 1), by integration."""
    return sp.integrate(sp.expand(expression), (alpha1, 0, 1))


def _norm_changes(own: Fraction, cosine: Fraction, previous: Fraction | None = None) -> Margin:
    """Squared norm of a mixed unit key against 1, at one pair of coefficients (on the slice unless told otherwise)."""
    return different(Fraction(1), init.mixed_norm(own, 1 - own if previous is None else previous, cosine))


def _norm_on_slice(power: int = 1) -> Margin:
    """|a x + (1 - a) y|^2 = 1 - 2 a (1 - a)(1 - c), and its mean over a is (2 + c)/3."""
    norm = init.mixed_norm(*SLICE, inner)
    closed = 1 - 2 * alpha1 * (1 - alpha1) * (1 - inner) ** power
    return identities((norm, _average(norm)), (closed, (2 + inner) / 3))


def _first_position(mean: sp.Expr = sp.S.One / 3) -> Margin:
    """Position 1 has no previous token: factor alpha1^2, mean 1/3."""
    first = mixing_matrix(SLICE, 2)[0, 0] ** 2
    return identities((first, _average(first)), (alpha1**2, mean))


def _neighbours(expected: sp.Expr = sp.pi / 4 - sp.S.Half) -> Margin:
    """Mean over alpha1 of a head's correlation of adjacent keys of white tokens, a1 a2 / (a1^2 + a2^2)."""
    return identity(sp.integrate(sp.Mul(*SLICE) / init.mixed_norm(*SLICE, 0), (alpha1, 0, 1)), expected)


def _pooled(expected: Fraction = Fraction(1, 4)) -> Margin:
    return same(init.lagged_moment(2, 1) / init.lagged_moment(2, 0), expected)


def _factorises(tied: bool = False) -> Margin:
    """E alpha_i^p beta_j^q = E alpha_i^p E beta_j^q for all i, j and free p, q (tied: E alpha_1 alpha_2)."""
    u, v = sp.symbols("u v", positive=True)
    p, q = sp.symbols("p q", positive=True, integer=True)
    pairs = [(u, 1 - u)] if tied else [(a**p, b**q) for a in (u, 1 - u) for b in (v, 1 - v)]

    def mean(expression: sp.Expr) -> sp.Expr:
        return sp.integrate(expression, (u, 0, 1), (v, 0, 1))

    return identities([mean(a * b) for a, b in pairs], [mean(a) * mean(b) for a, b in pairs])


def _gain(own: sp.Expr, previous: sp.Expr) -> Margin:
    """Gain |a + b e^{i w}|^2 of the mixture at frequency w: (a + b)^2 - 4 a b sin^2(w/2), of slope -2 a b sin(w)."""
    gain = own**2 + previous**2 + 2 * own * previous * sp.cos(angle)
    falls = -2 * alpha1 * (1 - alpha1) * sp.sin(angle)
    return identities((gain, gain.diff(angle)), (1 - 4 * alpha1 * (1 - alpha1) * sp.sin(angle / 2) ** 2, falls))


GRID = [{"own": Fraction(a, 10), "cosine": Fraction(c, 2)} for a in (1, 5, 9) for c in (-1, 0, 1)]
INTEGRATED = everywhere("alpha1 is integrated over all of (0, 1).")

CLAIMS: tuple[Claim, ...] = (
    mathematical(
        "kv.sec2.2.initial_state",
        f"{SECTION}, last paragraph",
        "alpha1 ~ U(0, 1) and alpha2 = 1 - alpha1 do not affect the initial optimisation state.",
        exact(
            "the squared norm of a mixed unit key: alpha1 = 1/10, 1/2, 9/10, neighbours at cosine -1/2, 0, 1/2",
            _norm_changes,
            GRID,
            Control("equal neighbours", points=[{"own": Fraction(1, 3), "cosine": Fraction(1)}]),
            Control(
                "orthogonal neighbours and coefficients (3/5, 4/5)",
                points=[{"own": Fraction(3, 5), "cosine": Fraction(0), "previous": Fraction(4, 5)}],
            ),
        ),
        verdict=Verdict.FALSE,
        reading="Not affected are keys and values that keep their size, in a head or in the mean over heads.",
        severity=Severity.REPAIRABLE,
        witness={"own": Fraction(1, 2), "cosine": Fraction(0)},
        correction="kv.sec2.2.initial_state.corrected",
        note="In the mean keys, values and logits of white tokens start with 2/3 of their variance, at position 1 with "
        "1/3 (kv.sec2.2.initial_state.first). As the coefficients sum to one, what is equal at two neighbours is kept.",
        formula=r"|\alpha_1k_t+\alpha_2k_{t-1}|^2=|k_t|^2",
        coverage=WITNESSED,
    ),
    mathematical(
        "kv.sec2.2.initial_state.corrected",
        f"{SECTION}, last paragraph, corrected",
        "Keys of unit neighbours with inner product c start with squared norm 1 - 2 alpha1 alpha2 (1 - c), in the mean "
        "(2 + c)/3: unchanged for c = 1 only (2/3 for orthogonal neighbours).",
        symbolic(
            "alpha1 and c free; the mean by integration",
            _norm_on_slice,
            ONCE,
            Control("(1 - c)^2", lambda: _norm_on_slice(2)),
        ),
        formula=r"\mathbb{E}\,|\alpha_1k_t+\alpha_2k_{t-1}|^2=\frac{2+c}{3}",
        is_correction=True,
        coverage=everywhere("alpha1 and c are free, and alpha1 is integrated over all of (0, 1)."),
    ),
    mathematical(
        "kv.sec2.2.initial_state.first",
        f"{SECTION}, last paragraph, our addition",
        "At position 1 the squared norm starts multiplied by alpha1^2, in the mean 1/3, half of what orthogonal "
        "neighbours keep.",
        symbolic(
            "alpha1 free; the mean by integration",
            _first_position,
            ONCE,
            Control("2/3, as elsewhere", lambda: _first_position(sp.S(2) / 3)),
        ),
        is_correction=True,
        formula=r"|\hat k_1|^2=\alpha_1^2|k_1|^2,\quad\mathbb{E}\,\alpha_1^2=\frac{1}{3}",
        coverage=INTEGRATED,
    ),
    mathematical(
        "kv.sec2.2.initial_state.neighbours",
        f"{SECTION}, last paragraph, our addition",
        "On white tokens adjacent keys start correlated: pi/4 - 1/2 = .285 in the mean over heads.",
        symbolic(
            "alpha1 alpha2/(alpha1^2 + alpha2^2) integrated over U(0, 1)",
            _neighbours,
            ONCE,
            Control("1/4", lambda: _neighbours(sp.S.One / 4)),
        ),
        formula=r"\frac{\pi}{4}-\frac{1}{2}",
        is_correction=True,
        coverage=INTEGRATED,
    ),
    mathematical(
        "kv.sec2.2.initial_state.pooled",
        f"{SECTION}, last paragraph, our addition",
        "On white tokens the mean covariance of adjacent keys over their mean variance is exactly 1/4.",
        exact(
            "moments in rationals",
            _pooled,
            ONCE,
            Control("1/3", lambda: _pooled(Fraction(1, 3))),
        ),
        is_correction=True,
        formula=r"\frac{\mathbb{E}\,\alpha_1\alpha_2}{\mathbb{E}(\alpha_1^2+\alpha_2^2)}=\frac{1}{4}",
        coverage=INTEGRATED,
    ),
    mathematical(
        "kv.appF.independent",
        "KV shifting (final), Appendix F; first version, Section 4.6",
        "At initialisation alpha_i and beta_j are independent random variables.",
        symbolic(
            "E alpha_i^p beta_j^q = E alpha_i^p E beta_j^q for all i, j and free orders p, q",
            _factorises,
            ONCE,
            Control("alpha1 against alpha2", lambda: _factorises(tied=True)),
        ),
        reading="The alphas are meant against the betas, with which they are then said to become coupled.",
        note="alpha1 and alpha2 = 1 - alpha1 determine each other.",
        formula=r"\mathbb{E}\,\alpha_i^p\beta_j^q=\mathbb{E}\,\alpha_i^p\ \mathbb{E}\,\beta_j^q",
        coverage=everywhere("The orders are free, and the moments of all orders determine bounded variables."),
    ),
    mathematical(
        "kv.sec4.3.smooth",
        "KV shifting (final), Section 4.3; first version, Section 4.4",
        "Shifting provides a smooth key and value at initialisation: the mixture is a low-pass filter, whose gain "
        "falls on [0, pi].",
        symbolic(
            "its gain at frequency t is 1 - 4 alpha1 alpha2 sin^2(t/2), its slope -2 alpha1 alpha2 sin(t)",
            lambda: _gain(*SLICE),
            ONCE,
            Control("the difference of neighbours", lambda: _gain(alpha1, alpha1 - 1)),
        ),
        formula=r"1-4\alpha_1\alpha_2\sin^2(t/2)",
        coverage=everywhere(
            "t and alpha1 are free; alpha1 and alpha2 start between 0 and 1, and sin is >= 0 on [0, pi]."
        ),
    ),
)
