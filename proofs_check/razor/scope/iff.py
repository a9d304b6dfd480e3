"""Exactly when Theorem 1, with W_Q^T W_K, is true; and what changes for rotary heads and grouped queries."""

from fractions import Fraction

import sympy as sp
from flint import arb

from proofs_check.evidence.margin import Margin, ball_above, ball_at_least, identity, less, same, worst
from proofs_check.ledger.claim import ENUMERATED, WITNESSED, Claim, Control, everywhere
from proofs_check.ledger.mathematical import ONCE, exact, identities, mathematical, symbolic
from proofs_check.oracles.alibi import BallHead, ball, ball_weights, printed_scope

THEOREM = "RazorAttention, Section 3.1, Theorem 1"
HALF, EPS = Fraction(1, 2), Fraction(1, 1000)
E1, MINUS = (1, 0), (-1, 0)
BROKEN = (
    {"gamma": (1, 0), "bias": (0, 0), "norm": "rms", "hidden": E1, "other": MINUS, "strength": 6},
    {"gamma": (3, 1), "bias": (0, 0), "norm": "rms", "hidden": E1, "other": MINUS, "strength": 1},
    {"gamma": (1, 1), "bias": (HALF, 0), "norm": "rms", "hidden": E1, "other": MINUS, "strength": 8},
    {"gamma": (1, 1), "bias": (HALF, -HALF), "norm": "layer", "hidden": (1, -1), "other": (-1, 1), "strength": 6},
)
TRUE = {**BROKEN[0], "gamma": (1, 1)}
SHARES = tuple({"share": Fraction(n, 4)} for n in (0, 2, 3, 4, 9))


def violated(gamma: tuple, bias: tuple, norm: str, hidden: tuple, other: tuple, strength: int) -> Margin:
    """M = -c u u^T with u = hidden - other, of norm c ||u||^2: the weight at floor(L_h) + 1 in balls, against eps."""
    along = [Fraction(a) - Fraction(b) for a, b in zip(hidden, other, strict=True)]
    square = sum(a * a for a in along)
    head = BallHead(norm, gamma, bias, (tuple(strength * a for a in along),), (tuple(-a for a in along),), HALF)
    scope = printed_scope(head, strength * square, EPS)
    distance = int(float(scope.upper())) + 1
    heavier = ball_above(ball_weights(head, [other, *[hidden] * distance])[0], EPS)
    return worst([ball_at_least(distance - scope, strict=True), heavier], sides=heavier)


def rank_one(power: int = 1) -> Margin:
    """M = c x z^T/(|x||z|) has Frobenius norm c and x.M z = c |x||z|, for free vectors: no M of norm c has more."""
    x, z = (sp.Matrix(sp.symbols(f"{name}0:3", real=True)) for name in "xz")
    c, size = sp.Symbol("c", positive=True), x.norm() * z.norm()
    form = c * x * z.T / size**power
    return worst([identity(form.norm() ** 2, c**2), identity(x.dot(form * z), c * size)])


def odds_vanish(excess: int = 1) -> Margin:
    """At n <= L_h + 1, all nearer tokens like the query: e^{-c kappa} sum_{j<=n} e^{lj} <= e^{-c kappa} e^{ln}/(1 -
    e^{-l}) <= e^l e^{-c (kappa - R)}/(eps (1 - e^{-l})), which tends to 0 in c where kappa > R (`excess` 0: = R)."""
    rate, c, bound, over, eps = sp.symbols("l c R over eps", positive=True)
    reach = sp.exp(c * bound + rate) / eps  # e^{l (L_h + 1)}, L_h = (c R - ln eps)/l
    odds = sp.exp(-c * (bound + excess * over)) * reach / (1 - sp.exp(-rate))
    return identity(sp.limit(sp.simplify(odds), c, sp.oo), 0)


def twice_the_size(plant: int = 0) -> Margin:
    """Without a bias -x is a state too: (2 m)^2 - (|x||x - y|)^2 >= 0 with |x - y| <= |x| + |y| <= 2 m, m the largest
    size and u, v >= 0 what the sizes fall short of it; 0 for y = -x of size m."""
    m, u, v = sp.symbols("m u v", nonnegative=True)
    gap = 2 * m * m - (m - u) * ((m - u) + (m - v))
    # (m - u) >= 0: the sum is (m - u)(u + v) + 2 m u
    return identity(gap + plant, (m - u) * (u + v) + 2 * m * u)


def gains_apart(d: int, centred: int, told: int | None = None) -> Margin:
    """P = 1 (RMSNorm) or, `centred`, 1 - 11^T/d: P Gamma^2 P is a multiple of P where all |gamma_i| are equal, and in
    LayerNorm d = 2; its trace is ||gamma||^2 rank(P)/d; and the first two components of P Gamma^2 P (e_1 - e_2) add up
    to g_1^2 - g_2^2 for RMSNorm, to 1 - 2/d of it for LayerNorm, where a multiple of P has 0. `told`: the norm that
    the last share is of."""
    squares = sp.symbols(f"s0:{d}", nonnegative=True)
    projection = sp.eye(d) - centred * sp.ones(d, d) / d
    middle = projection * sp.diag(*squares) * projection
    across = middle[:, 0] - middle[:, 1]
    share = 1 - sp.Rational(2 * (centred if told is None else told), d)
    equal = dict.fromkeys(squares, squares[0]) if d > 1 + centred else {}
    return worst(
        [
            identities(middle.subs(equal), (sum(squares) / d * projection).subs(equal)),
            identity(middle.trace(), sum(squares) * projection.trace() / d),
            identity(across[0] + across[1], (squares[0] - squares[1]) * share),
        ]
    )


def one_size(sphere: int = 1, bound: int = 1) -> Margin:
    """States x = r u + beta e and y = r v + beta e, |u| = |v| = |e| = 1: (r + beta)^2 - |x|^2 is 2 r beta (1 - u.e) and
    4 r^2 - |x - y|^2 is 2 r^2 (1 + u.v), both 0 at u = e = -v: kappa = 2 r (r + beta). Less the bound 2 (r^2 + beta^2)
    that is 2 beta (r - beta): positive for 0 < beta < r only."""
    r, beta = sp.symbols("r beta", positive=True)
    near, mirrored = sp.symbols("ue uv", real=True)  # inner products, at most 1 in size
    size, apart = r**2 + 2 * r * beta * near + beta**2, r**2 * (2 - 2 * mirrored)
    return worst(
        [
            identity((r + beta) ** 2 - size, 2 * sphere * r * beta * (1 - near)),
            identity(4 * r**2 - apart, 2 * r**2 * (1 + mirrored)),
            identity(2 * r * (r + beta) - 2 * (r**2 + beta**2), 2 * beta * (r - bound * beta)),
        ]
    )


def two_states(share: Fraction, second: int = 1) -> Margin:
    """LayerNorm at d = 2, gains 1 and `second`, b = share (1, -1): kappa^2 over the two states is that of the closed
    form, 4 r^2 (r + ||b||)^2 with r^2 = 2 and ||b|| = share r; and kappa <= 2 (r^2 + ||b||^2) as said."""
    states = [(share + sign, -share - sign * second) for sign in (1, -1)]
    found = max((a * a + b * b) * ((a - c) ** 2 + (b - d) ** 2) for a, b in states for c, d in states)
    holds, said = found <= 16 * (1 + share**2) ** 2, share == 0 or share >= 1
    return worst([same(found, 16 * (1 + share) ** 2), same(int(holds), int(said))])


def raw_product(turned: bool = True) -> Margin:
    """0 = ||W_Q^T W_K|| below the logit of x = y = e_1 after a quarter turn of the key, in integers."""
    q, k, state = sp.Matrix([[1, 0], [0, 0]]), sp.Matrix([[0, 0], [1, 0]]), sp.Matrix(E1)
    turn = sp.Matrix([[0, 1], [-1, 0]]) if turned else sp.eye(2)
    return less((q.T * k).norm(), (q * state).dot(turn * k * state))


def turned_pair(sign: int = 1) -> Margin:
    """|q|^2 |k|^2 - (q . R k)^2 is the square of q x R k."""
    a, b, c, d, angle = sp.symbols("a b c d angle", real=True)
    key = (sp.cos(angle) * c - sp.sin(angle) * d, sp.sin(angle) * c + sp.cos(angle) * d)
    cross = a * key[1] - sign * b * key[0]
    return identity((a**2 + b**2) * (c**2 + d**2) - (a * key[0] + b * key[1]) ** 2, cross**2)


def weighted(power: int = 2) -> Margin:
    q, k, w = sp.symbols("q k w", positive=True)
    return identity((w * q**2 + k**2 / w) / 2 - q * k, (w ** sp.Rational(1, power) * q - k / sp.sqrt(w)) ** 2 / 2)


def half_a_unit(printed: str) -> Fraction:
    """Half of the last decimal place of a number as printed: what rounding to it may have taken away."""
    return Fraction(1, 2 * 10 ** len(printed.partition(".")[2]))


def group_cost(group: int = 4, claimed: str = "1.2728") -> Margin:
    """Slopes 2^{-h/4}, h = 1..32: group times the sum of the groups' largest 1/slope over the sum of all is as claimed,
    to half a digit."""
    inverse = [(ball(Fraction(h, 4)) * arb(2).log()).exp() for h in range(1, 33)]
    ratio = group * sum(inverse[group - 1 :: group], arb(0)) / sum(inverse, arb(0))
    return ball_at_least(ball(half_a_unit(claimed)) - abs(ratio - ball(Fraction(claimed))))


CLAIMS: tuple[Claim, ...] = (
    mathematical(
        "razor.thm1.iff",
        THEOREM + ", completed",
        "For given gains and bias Theorem 1 (with W_Q^T W_K) holds for all heads, slopes, eps and contexts if and only "
        "if kappa = sup ||x|| ||x - y|| over post-norm states is at most 2 (||gamma||^2 + ||b||^2).",
        symbolic(
            "if: x.M z is at most ||M|| |x||z|, and a rank-one M reaches it; free vectors of 3 coordinates",
            rank_one,
            ONCE,
            Control("the root of the size", lambda: rank_one(power=2)),
        ),
        symbolic(
            "only if: just beyond L_h, in a context of the target and the query's state, the others' odds tend to 0",
            odds_vanish,
            ONCE,
            Control("kappa at the bound", lambda: odds_vanish(excess=0)),
        ),
        exact(
            "only if: heads -c u u^T for four norms above the bound, from hidden states to weights, in balls",
            violated,
            BROKEN,
            Control("gains of one size, no bias", None, (TRUE,)),
        ),
        formula=r"\sup_{x,y}\|x\|\|x-y\|\le 2(\|\gamma\|^2+\|b\|^2)",
        hypotheses=("the right product W_Q^T W_K", "scores as in Eq. 1"),
        coverage=everywhere(
            "If: the own token alone keeps the weight below e^{||M|| kappa - ln}, by the norm of a product of vectors. "
            "Only if: a pair of states above the bound gives a rank-one head whose weight just beyond L_h tends to 1."
        ),
        is_correction=True,
    ),
    mathematical(
        "razor.thm1.no_bias",
        THEOREM + ", completed",
        "Without a bias Theorem 1 (with W_Q^T W_K) holds if and only if all |gamma_i| are equal, or d = 2 (LayerNorm).",
        symbolic(
            "kappa = 2 max ||x||^2: the triangle inequality, met by y = -x",
            twice_the_size,
            ONCE,
            Control("one more", lambda: twice_the_size(plant=1)),
        ),
        symbolic(
            "free gains, d = 2..7, both norms: equal ones, or any in LayerNorm d = 2, give a multiple of P; the trace; "
            "a sum that is 0 only then",
            gains_apart,
            tuple({"d": d, "centred": centred} for d in range(2, 8) for centred in (0, 1)),
            Control("RMSNorm's component for LayerNorm, d = 2", lambda: gains_apart(2, 1, told=0), ONCE),
            Control("LayerNorm's component for RMSNorm", lambda: gains_apart(3, 0, told=1), ONCE),
        ),
        formula=r"|\gamma_1|=\dots=|\gamma_d|",
        coverage=everywhere(
            "kappa = 2 d lambda_max(P Gamma^2 P), at least 2 ||gamma||^2 by the trace, with equality for a multiple of "
            "P only; that takes equal squares, by a component in which d enters as 1/d alone (RMSNorm: P = 1)."
        ),
        is_correction=True,
    ),
    mathematical(
        "razor.thm1.one_size",
        THEOREM + ", completed",
        "With gains of one size, r = sqrt(d) |gamma_i|, and RMSNorm, or LayerNorm with gains of one sign and a bias "
        "orthogonal to the ones, Theorem 1 (with W_Q^T W_K) holds if and only if b = 0 or ||b|| >= r: kappa = "
        "2 r (r + ||b||).",
        symbolic(
            "kappa, on a sphere about b, free inner products in any dimension: two differences, 0 at one pair; less "
            "the bound it is 2 ||b|| (r - ||b||)",
            one_size,
            ONCE,
            Control("the sign of the first", lambda: one_size(sphere=-1)),
            Control("the sign in the last", lambda: one_size(bound=-1)),
        ),
        exact(
            "LayerNorm at d = 2: kappa over its two states, and the theorem's condition, as rationals",
            two_states,
            SHARES,
            Control("gains of two signs", lambda share: two_states(share, second=-1), SHARES[1:2]),
        ),
        formula=r"2r(r+\|b\|)\le 2(r^2+\|b\|^2)\iff\|b\|(r-\|b\|)\le 0",
        hypotheses=("RMSNorm, or LayerNorm with one signed gain",),
        coverage=everywhere(
            "The states are a sphere of radius r about b, in a space that holds b; only the span of b, u and v "
            "counts, and both factors of kappa are largest at one pair."
        ),
        is_correction=True,
    ),
    mathematical(
        "razor.sec3.2.raw_range",
        "RazorAttention, Section 3.2, Eq. 3, added",
        "The spectral norm of the raw product W_Q^T W_K, as in Eq. 2, does not bound the logits of a rotary head: it "
        "can be 0 while a quarter turn makes the logit x_1 y_1.",
        exact(
            "W_Q = [[1, 0], [0, 0]], W_K = [[0, 0], [1, 0]]: product 0, and a quarter turn makes the logit x_1 y_1",
            raw_product,
            ONCE,
            Control("no turn", lambda: raw_product(turned=False)),
        ),
        formula=r"q_m^TR_{n-m}k_n>\|W_Q^TW_K\|_2\|x_m\|\|x_n\|=0",
        coverage=WITNESSED,
        is_correction=True,
        note="Print claims Eq. 2 for ALiBi only. A bound over all relative rotations carries over: the sizes of query "
        "and key, pair by pair.",
    ),
    mathematical(
        "razor.sec3.2.raw_range.corrected",
        "RazorAttention, Section 3.2, Eq. 3, added",
        "A rotated logit is at most sum_f |q_f| |k_f| over the rotary pairs, so two logits of one query differ at most "
        "by 2/sqrt(d_head) sqrt(max_x sum_f w_f |q_f|^2 max_y sum_f |k_f|^2/w_f), any w_f > 0, key bias included.",
        symbolic(
            "(|q||k|)^2 - (q . R k)^2 is a square for one pair and every angle",
            turned_pair,
            ONCE,
            Control("a sign", lambda: turned_pair(sign=-1)),
        ),
        symbolic(
            "(w |q|^2 + |k|^2/w)/2 - |q||k| is a square for every w > 0",
            weighted,
            ONCE,
            Control("w for sqrt w", lambda: weighted(power=1)),
        ),
        formula=r"|q\cdot Rk|\le\sum_f|q_f||k_f|",
        coverage=everywhere(
            "Pair by pair two squares, for every query, key, angle and weight; the pairs add up, and a common factor "
            "of all w_f turns the mean of the two sums into the root of their product."
        ),
        is_correction=True,
    ),
    mathematical(
        "razor.sec4.1.group_window",
        "RazorAttention, Section 4.1 (groups of 4 query heads)",
        "Keys shared by a group of query heads must be kept for the group's smallest slope: for 32 slopes in groups "
        "of 4 neighbours that takes 1.2728 times the windows of single heads, at equal ranges.",
        exact(
            "sum of the largest 1/slope of each group against the sum of all, in balls, to half a unit",
            group_cost,
            ONCE,
            Control("groups of 8", lambda: group_cost(group=8)),
            Control("1.2715", lambda: group_cost(claimed="1.2715")),
        ),
        formula=r"\frac{4\sum_g\max_{h\in g}1/l_h}{\sum_h1/l_h}=1.2728",
        coverage=ENUMERATED,
        is_correction=True,
    ),
)
