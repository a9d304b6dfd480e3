"""What RazorAttention leaves open about dropped tokens: no slope, a budget over heads, which token to evict."""

from fractions import Fraction

from proofs_check.claim import Claim, Control, everywhere
from proofs_check.kv.mathematical import ONCE, exact, mathematical, symbolic
from proofs_check.razor import truncation_budget_checks as b
from proofs_check.razor import truncation_checks as c

ADDED = "RazorAttention, Section 3.1, added"
WEIGHTED = {
    "weights": tuple(Fraction(n, 20) for n in (18, 1, 1)),
    "values": (Fraction(0), Fraction(1), Fraction(-1, 2)),
}

BALANCED = {"weights": tuple(Fraction(n, 4) for n in (2, 1, 1)), "values": (0, 1, -1)}

CLAIMS: tuple[Claim, ...] = (
    mathematical(
        "razor.sec3.2.no_decay",
        "RazorAttention, Section 3.2",
        "RoPE does not inherently suggest long-range decaying attention: without a slope the sharp scope is "
        "(1/eps - 1) e^D, and any fixed window loses all of the mass as the context grows.",
        symbolic(
            "both limits, every D, eps and number of kept tokens",
            c.flat_limits,
            ONCE,
            Control("twice the scope", lambda: c.flat_limits(factor=2)),
        ),
        exact(
            "e^D = 1, 4, 32: the first distance at which one token weighs at most eps, token by token",
            c.flat_scope,
            (
                {"lift": 0, "inverse_eps": 1000, "first": 999},
                {"lift": 2, "inverse_eps": 10, "first": 36},
                {"lift": 5, "inverse_eps": 1000, "first": 31_968},
            ),
            Control("D one bit larger", None, ({"lift": 3, "inverse_eps": 10, "first": 36},)),
        ),
        exact(
            "D = 5, eps = 0.1 %: 148265 tokens without a slope, 1629 with l = 1/256",
            c.flat_scope_number,
            ({"range_": 5, "inverse_eps": 1000, "tokens": 148_265, "slope_inverse": 256, "sloped": 1629},),
            Control(
                "l = 1/128",
                None,
                ({"range_": 5, "inverse_eps": 1000, "tokens": 148_265, "slope_inverse": 128, "sloped": 1629},),
            ),
        ),
        coverage=everywhere(
            "Every range, eps, window and number of tokens are free in the limits; the rest are numbers."
        ),
        reading="RoPE adds no term that falls with distance: a head whose logits do not depend on it is a rotary head, "
        "with keys in pairs that do not turn or equal to 0.",
        formula=r"\lim_{l\to 0}\frac{1}{l}\ln\left[1+(1/\epsilon-1)(1-e^{-l})e^D\right]=(1/\epsilon-1)e^D",
    ),
    mathematical(
        "razor.sec3.2.flat_mass",
        "RazorAttention, Section 3.2, added",
        "Without a slope T <= N_d/(N_d + N_k e^{-D}), reached where the dropped logits are all D above the kept ones.",
        symbolic(
            "free numbers and range: the form, and what a kept weight above or a dropped one below takes off",
            c.flat_mass_form,
            ONCE,
            Control("e^{-2D}", lambda: c.flat_mass_form(power=2)),
        ),
        exact(
            "e^D = 1, 2, 32, counted token by token",
            c.flat_mass,
            tuple({"dropped": n, "kept": k, "lift": x} for n in (1, 5) for k in (1, 3) for x in (0, 1, 5)),
            Control("one kept token fewer", lambda **p: c.flat_mass(**p, own=1)),
        ),
        coverage=everywhere("Numbers of tokens and the range are free; the mass falls with every kept weight."),
        is_correction=True,
        formula=r"T\le\frac{N_d}{N_d+N_k e^{-D}}",
    ),
    mathematical(
        "razor.sec3.1.budget",
        ADDED,
        "Total error budget sum c_h delta_h = eta: the windows (D_h - ln delta_h)/l_h are shortest in total at "
        "delta_h = eta/(c_h l_h sum 1/l), and the sharp windows, among masses of at most 1/2, where all c_h l_h "
        "delta_h (1 - (1 - e^{-D_h}) delta_h) agree.",
        symbolic(
            "2 to 4 heads: the budget is spent, the slopes agree, the windows are convex",
            b.stationary,
            tuple({"count": n} for n in (2, 3, 4)),
            Control("l_h squared", lambda count: b.stationary(count, power=2)),
        ),
        symbolic(
            "derivatives of the sharp window, convex up to a mass of 1/2",
            b.sharp_rate,
            ONCE,
            Control("1 - a delta in the second derivative", lambda: b.sharp_rate(curvature=1)),
        ),
        coverage=everywhere(
            "Each head's term is one and the same function of its own slope, cost and mass, so that any number of "
            "heads adds no other case; a stationary point of convex windows is the least."
        ),
        is_correction=True,
        formula=r"\delta_h=\frac{\eta}{c_h l_h\sum_j 1/l_j}",
    ),
    mathematical(
        "razor.sec3.1.budget_saving",
        ADDED,
        "Against equal shares it saves (sum 1/l) KL(p || uniform) tokens, p ~ 1/l: 1182 with 32 ALiBi heads "
        "(KL = 0.737), whatever the budget.",
        symbolic(
            "2 to 4 heads",
            b.saving,
            tuple({"count": n} for n in (2, 3, 4)),
            Control("uniform over one head more", lambda count: b.saving(count, base=1)),
        ),
        exact(
            "32 heads, slopes 2^{-i/4}, head by head",
            b.saving_at,
            ({"n_heads": 32, "divergence": "0.737", "tokens": 1182},),
            Control("16 heads", None, ({"n_heads": 16, "divergence": "0.737", "tokens": 1182},)),
        ),
        coverage=everywhere("Each head adds one and the same term to both sides; the 32 slopes of ALiBi are summed."),
        is_correction=True,
        formula=r"\sum_h\frac{1}{l_h}\ln\frac{\delta_h}{\delta_{equal}}=\sum_h\frac{1}{l_h}\,KL(p\|u)",
    ),
    mathematical(
        "razor.sec2.eviction",
        "RazorAttention, Section 2, added",
        "Evicting one token j costs |o_{-j} - o| = a_j/(1 - a_j) |v_j - o|. Neither a_j nor a_j |v_j| ranks tokens so: "
        "the heaviest may cost nothing, and a sink of value 0 has the least a_j |v_j| and may be the worst to evict.",
        symbolic(
            "free weights and values, any number of other tokens as one sum, and 2 to 4 tokens",
            c.leave_one_out,
            tuple({"tokens": n} for n in (0, 2, 3, 4)),
            Control("a_j without 1 - a_j", lambda tokens: c.leave_one_out(tokens, plain=True)),
        ),
        exact(
            "weights (18, 1, 1)/20, values (0, 1, -1/2): costs 9/40, 39/760, 21/760",
            c.sink_ranked_best,
            (WEIGHTED,),
            Control("equal weights", None, ({**WEIGHTED, "weights": (Fraction(1, 3),) * 3},)),
        ),
        exact(
            "weights (2, 1, 1)/4, values (0, 1, -1): the heaviest costs 0, the others 1/3",
            c.heaviest_ranked_worst,
            (BALANCED,),
            Control("value 2 on it", None, ({**BALANCED, "values": (2, 1, -1)},)),
        ),
        coverage=everywhere("All other tokens enter as one free sum; two exact heads show what neither score ranks."),
        is_correction=True,
        formula=r"\|o_{-j}-o\|=\frac{a_j}{1-a_j}\|v_j-o\|",
    ),
)
