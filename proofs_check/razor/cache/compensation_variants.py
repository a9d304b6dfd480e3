"""Compensation beyond Eq. 4 of RazorAttention: rotated keys, fading keys, another centre, second order."""

from collections.abc import Sequence
from fractions import Fraction

import sympy as sp
from flint import arb

from proofs_check.evidence.margin import Margin, ball_at_least, ball_within, identity, worst
from proofs_check.ledger.claim import INSTANCES, Claim, Control, everywhere
from proofs_check.ledger.mathematical import ONCE, exact, mathematical, symbolic
from proofs_check.razor.scope.iff import half_a_unit
from theory.lowering.box import to_ball

ROPE = "RazorAttention, Section 3.2 (Eq. 4 on rotated keys), added"
ALIBI = "RazorAttention, Section 3.1 and Eq. 4, added"
EQ4 = "RazorAttention, Eq. 4, added"
FEW = tuple({"count": n} for n in (2, 3, 4, 5))
PHASES = tuple(
    {"phase": Fraction(n, 4), "claimed": found} for n, found in ((0, "1.335"), (1, "1.236"), (2, "0.998"), (4, "0.669"))
)
STEP = sp.Symbol("h", real=True)


def rotated_pair(half: int = 2) -> Margin:
    """Two identical keys turned apart: their logits x, y differ, and Z_D / Zhat = cosh((x - y)/2)."""
    x, y = sp.symbols("x y", real=True)
    ratio = (sp.exp(x) + sp.exp(y)) / (2 * sp.exp((x + y) / 2))
    return identity(ratio, sp.cosh((x - y) / half).rewrite(sp.exp))


def rotated_many(
    positions: int, number: str = "14.09", claimed: Sequence[int] = (3, 2, 1), squares: Sequence[int] = (1, 2, 3)
) -> Margin:
    """Pairs of |q_i| |k_i| = 3, 2, 1 turning by the roots of `squares` a position: Z_D / Zhat of the first positions,
    token by token, within 200 over their number of the product of I_0 at the sizes claimed, which is `number` to half
    its last digit; balls."""
    turns = [arb(square).sqrt() for square in squares]
    logits = [sum((size * (turn * m).cos() for size, turn in zip((3, 2, 1), turns, strict=True)), arb(0))
              for m in range(positions)]  # fmt: skip
    factor = sum((x.exp() for x in logits), arb(0)) / positions / (sum(logits, arb(0)) / positions).exp()
    limit = arb(1)
    for size in claimed:
        limit *= arb(size).bessel_i(0)
    close = ball_at_least(arb(200) / positions - abs(factor - limit))
    return worst([close, ball_at_least(to_ball(half_a_unit(number)) - abs(limit - arb(number)))])


def _share(harmonic: int) -> arb:
    """2 I_k(5) I_{10 k}(30) / (I_0(5) I_0(30))."""
    five, thirty = (arb(x).bessel_i(n * harmonic) / arb(x).bessel_i(0) for x, n in ((5, 1), (30, 10)))
    return 2 * five * thirty


def rotated_dependent(phase: Fraction, claimed: str, part: int = 10) -> Margin:
    """exp(5 cos(10 x + pi phase) + 30 cos x) in 400 equal steps of a turn, one by one, over I_0(5) I_0(30), is within
    1e-12 of 1 + sum_k 2 I_k(5) I_{10 k}(30) / (I_0(5) I_0(30)) cos(pi k phase), 12 terms, and as claimed, to half a
    digit. `part` for 10 changes the steps."""
    ahead = arb.pi() * to_ball(phase)
    angles = [2 * arb.pi() * m / 400 for m in range(400)]
    mean = sum(((5 * (part * x + ahead).cos() + 30 * x.cos()).exp() for x in angles), arb(0)) / 400
    ratio = mean / arb(5).bessel_i(0) / arb(30).bessel_i(0)
    series = sum((_share(k) * (k * ahead).cos() for k in range(1, 13)), arb(1))
    agree = ball_within(abs(ratio - series), Fraction(1, 10**12))
    return worst([agree, ball_at_least(to_ball(half_a_unit(claimed)) - abs(ratio - arb(claimed)))])


def falls_with_the_phase(weaker: int = 1) -> Margin:
    """|sin k x| <= k sin x in [0, pi]: the first cosine of the series outweighs the slopes of those after it, 12 terms
    of a series that falls faster than any power."""
    return ball_at_least(_share(1) / weaker - sum((k**2 * _share(k) for k in range(2, 13)), arb(0)), strict=True)


def tenth_of_a_frequency(apart: int = 16) -> Margin:
    """base^(-2 i/width), base 10^4, width 128: the exponents of 10 of two frequencies `apart` pairs from each other
    differ by 1."""
    pair = sp.Symbol("i")
    first, second = (sp.Rational(-8, 128) * (pair + more) for more in (0, apart))
    return identity(first - second, 1)


def phases(count: int, drift: int = 0) -> Margin:
    """(z - 1) sum z^m = z^n - 1 and |e^{ix} - 1|^2 = 4 sin^2(x/2): the mean of n turned keys has length
    |sin(n theta/2)| / (n |sin(theta/2)|)."""
    z = sp.Symbol("z")
    angle = sp.Symbol("angle", real=True)
    chord = (sp.cos(angle) - 1) ** 2 + sp.sin(angle) ** 2
    summed = sp.expand((z - 1) * sum(z**m for m in range(count)))
    return worst([identity(summed, z ** (count + drift) - 1), identity(chord, 4 * sp.sin(angle / 2) ** 2)])


def decay(fresh_power: int = 0) -> Margin:
    """mass <- x mass + x^W and the mean with it, x = e^{-l}: after 4 tokens the sums over all dropped ones."""
    x, window = sp.symbols("x W", positive=True)
    keys = sp.symbols("k0:4", real=True)
    mass, mean, fresh = sp.Integer(0), sp.Integer(0), x ** (window + fresh_power)
    for key in keys:
        mass, mean = x * mass + fresh, (x * mass * mean + fresh * key) / (x * mass + fresh)
    weights = [x ** (window + age) for age in (3, 2, 1, 0)]
    true_mean = sum(w * k for w, k in zip(weights, keys, strict=True)) / sum(weights)
    return worst([identity(mass, sum(weights)), identity(mean, true_mean)])


class _Line:
    """Dropped tokens at q_0 + h, along a line through q_0: free weights at q_0, whose logarithms are q_0.k, free
    keys along the line and values, and the means by these weights; beside them a kept token."""

    def __init__(self, count: int) -> None:
        self.weights = sp.symbols(f"w0:{count}", positive=True)
        self.keys, self.values = sp.symbols(f"k0:{count}", real=True), sp.symbols(f"v0:{count}", real=True)
        self.mass = sum(w * sp.exp(STEP * k) for w, k in zip(self.weights, self.keys, strict=True))

    def mean(self, *columns: Sequence[sp.Expr]) -> sp.Expr:
        return sum(sp.prod(row) for row in zip(self.weights, *columns, strict=True)) / sum(self.weights)

    def miss(self, mass: sp.Expr, value: sp.Expr) -> sp.Expr:
        """Full output less that with a mass and a value in place of the dropped tokens."""
        key, other = sp.symbols("k v", real=True)
        kept = sp.Symbol("w", positive=True) * sp.exp(STEP * key)
        rows = zip(self.weights, self.keys, self.values, strict=True)
        full = sum(w * sp.exp(STEP * k) * v for w, k, v in rows)
        return (full + kept * other) / (self.mass + kept) - (mass * value + kept * other) / (mass + kept)


def tangent(count: int, shift: int = 0) -> Margin:
    """log Z_D(q_0) - q_0.k*, the log mass of the token, is the entropy of the weights; k* is the gradient of log Z_D at
    q_0, and the output is right there."""
    line = _Line(count)
    total, logs = sum(line.weights), [sp.log(w) for w in line.weights]
    entropy = -line.mean([log - sp.log(total) for log in logs])
    return worst(
        [
            identity(sp.log(total) - line.mean(logs) + shift, entropy),
            identity(sp.diff(sp.log(line.mass), STEP).subs(STEP, 0), line.mean(line.keys)),
            identity(line.miss(total, line.mean(line.values)).subs(STEP, 0), 0),
        ]
    )


def second_order(count: int, turning: bool = True) -> Margin:
    """With the variance of the keys and Cov(v, k) the log mass has two derivatives, and the output one, right at q0."""
    line = _Line(count)
    key, value = line.mean(line.keys), line.mean(line.values)
    variance = line.mean(line.keys, line.keys) - key**2
    turn = line.mean(line.values, line.keys) - value * key
    mass = sum(line.weights) * sp.exp(STEP * key + STEP**2 * variance / 2)
    miss = line.miss(mass, value + STEP * turn * int(turning))
    return worst(
        [
            identity(sp.diff(sp.log(line.mass) - sp.log(mass), STEP, 2).subs(STEP, 0), 0),
            identity(miss.subs(STEP, 0), 0),
            identity(sp.diff(miss, STEP).subs(STEP, 0), 0),
        ]
    )


CLAIMS: tuple[Claim, ...] = (
    mathematical(
        "razor.eq4.rotary",
        ROPE,
        "Averaging keys after the rotation counts even identical tokens too little, from two of them on whose logits "
        "x and y differ: by cosh((x - y)/2).",
        symbolic(
            "two turned copies of a key, free logits",
            rotated_pair,
            ONCE,
            Control("cosh((x - y)/3)", lambda: rotated_pair(half=3)),
        ),
        coverage=everywhere("Both logits are free; three or more lose by razor.eq5.under."),
        is_correction=True,
        formula=r"\frac{Z_D}{\hat Z}=\cosh\frac{x-y}{2}",
    ),
    mathematical(
        "razor.eq4.rotary.limit",
        ROPE,
        "Over many positions, with frequencies of which no integer combination is a multiple of 2 pi, the factor "
        "tends to prod_i I_0(|q_i| |k_i|) over the pairs of dimensions, 14.09 for (3, 2, 1), while the mean of n "
        "copies of a turning pair shrinks to |sin(n theta/2)| / (n |sin(theta/2)|).",
        exact(
            "frequencies 1, sqrt 2 and sqrt 3, the first 1000, 4000 and 16000 positions one by one: within 200 over "
            "their number; 14.09 to half a digit",
            rotated_many,
            tuple({"positions": n} for n in (1000, 4000, 16_000)),
            Control("I_0 of (3, 2, 2)", lambda positions: rotated_many(positions, claimed=(3, 2, 2))),
            Control("frequencies 1, 2 and 3", lambda positions: rotated_many(positions, squares=(1, 4, 9))),
            Control("14.10", lambda positions: rotated_many(positions, number="14.10")),
        ),
        symbolic(
            "geometric sums of 2 to 5 phases",
            phases,
            FEW,
            Control("n + 1", lambda count: phases(count, drift=1)),
        ),
        coverage=INSTANCES,
        hypotheses=("sum of k_i theta_i, k_i whole, is a multiple of 2 pi for no k but 0",),
        note="RoPE's own frequencies need not be such: razor.eq4.rotary.dependent.",
        is_correction=True,
        formula=r"\frac{Z_D}{\hat Z}\to\prod_i I_0(|q_i||k_i|)",
    ),
    mathematical(
        "razor.eq4.rotary.dependent",
        ROPE,
        "Where frequencies depend on each other the limit is another one: with theta and theta/10, as base 10^4 has "
        "them 16 pairs apart at 128 dimensions, and |q_i| |k_i| = 5 and 30, it falls from 1.335 times the product "
        "where the pairs turn in phase to 0.669 times where they are half a turn apart.",
        exact(
            "400 equal steps of a turn, one by one in balls, and the series of Bessel functions, at four phases",
            rotated_dependent,
            PHASES,
            Control("the product itself", points=({"phase": Fraction(0), "claimed": "1.000"},)),
            Control("theta/11 in its place", lambda **p: rotated_dependent(**p, part=11)),
        ),
        exact(
            "in between it falls: the series' first cosine outweighs the slopes of the others",
            falls_with_the_phase,
            ONCE,
            Control("a fiftieth of it", lambda: falls_with_the_phase(weaker=50)),
        ),
        symbolic(
            "10^(-8 (i + 16)/128) is a tenth of 10^(-8 i/128), every i",
            tenth_of_a_frequency,
            ONCE,
            Control("15 pairs apart", lambda: tenth_of_a_frequency(apart=15)),
        ),
        coverage=everywhere(
            "The mean over positions tends to the mean over a turn (Weyl), which is the series (Jacobi and Anger); the "
            "series falls with the phase from 0 to half a turn, and its two ends are computed."
        ),
        hypotheses=("theta is no rational multiple of 2 pi",),
        note="No frequency of RoPE is such a multiple: pi is transcendental, and 10^(-8 i/128) is algebraic.",
        is_correction=True,
        formula=r"\frac{Z_D}{\hat Z}\to I_0(5)I_0(30)+2\sum_{k\ge1}I_k(5)I_{10k}(30)\cos k\varphi",
    ),
    mathematical(
        "razor.eq4.alibi_decay",
        ALIBI,
        "With weights e^{-l distance} the token is exact for identical keys; as the query moves on, mass <- e^{-l} "
        "mass + e^{-l W} and the means with it, exactly.",
        symbolic(
            "4 tokens that leave a window of any length, free keys, every slope",
            decay,
            ONCE,
            Control("e^{-l (W + 1)}", lambda: decay(fresh_power=1)),
        ),
        coverage=everywhere("One step multiplies every weight by e^{-l} and adds e^{-lW}, the same at every length."),
        is_correction=True,
        formula=r"m\leftarrow e^{-l}m+e^{-lW}",
    ),
    mathematical(
        "razor.eq4.tangent",
        EQ4,
        "Eq. 4 is the tangent of q -> log Z_D(q) at q = 0. The tangent at q_0 has the softmax means at q_0 as key and "
        "value and the entropy of the weights as log mass; log mass, its gradient and the output are exact at q_0.",
        symbolic(
            "queries along a line, free keys, values and weights; 2 and 3 dropped tokens and one kept",
            tangent,
            FEW[:2],
            Control("one more in the log mass", lambda count: tangent(count, shift=1)),
        ),
        coverage=INSTANCES,
        is_correction=True,
        formula=r"\ln Z_D(q)\ge\ln Z_D(q_0)+(q-q_0)k^*",
    ),
    mathematical(
        "razor.eq4.second_order",
        EQ4,
        "With the covariance of the keys in the log mass and Cov(v, k)(q - q_0) in the value, the log mass is right to "
        "second order at q_0 and the output to first order, whatever is kept.",
        symbolic(
            "along a line, 2 and 3 dropped tokens and one kept, all free",
            second_order,
            FEW[:2],
            Control("a value that does not turn", lambda count: second_order(count, turning=False)),
        ),
        coverage=INSTANCES,
        is_correction=True,
        formula=r"\ln Z_D(q_0)+(q-q_0)k^*+\frac12(q-q_0)\Sigma(q-q_0)",
    ),
)
