"""Late on the induction route: a region with explicit bounds that gradient flow, once inside, never leaves."""

from proofs_check.kv.beyond import late_checks as checks
from proofs_check.ledger.claim import Claim, Control, Effort, everywhere
from proofs_check.ledger.mathematical import certified, mathematical, sampled

SOURCE = "KV shifting (both versions), Section 3.2, Theorem 3.4, our addition"


def _places(effort: Effort) -> list[dict]:
    powers = (4,) if effort is Effort.QUICK else (4, 6)
    return [{"tokens": t, "power": k} for t in (8, 30) for k in powers]


def _walls(effort: Effort) -> list[dict]:
    return [{"which": which, **place} for place in _places(effort) for which in checks.WALLS]


CLAIMS: tuple[Claim, ...] = (
    mathematical(
        "kv.beyond.late.remainder", SOURCE,
        "Put c = e^{alpha2} / beta1^2, g = e^{beta2} beta1, A = e^{alpha1}. Where beta1 >= 1e4, A <= 1/4, |g - (T - "
        "2)| <= 1/20, -eps <= c - (T - 1)/2 - A <= A^2/2 + eps with eps = 1/100 (T = 8; for T = 30: 3/4, 1/10, 1/20), "
        "gradient flow keeps these bounds for ever, while beta1 grows and e^{-alpha1} grows by (2 +- .02)/c for each "
        "unit of log beta1; from beta1 >= 1e6 on likewise with .015 of eps and of the bound on g. So alpha2 = 2 log "
        "beta1 + log((T - 1)/2 + A + R), -eps <= R <= A^2/2 + eps, and A falls as c / (2 log beta1).",
        certified("at each wall the exact field, in variables regular at beta1 = infinity, points inward", checks.wall,
                  _walls, Control("c + 1", lambda **p: checks.wall(**p, shift=1))),
        certified("slope of e^{-alpha1}", checks.growth, _places,
                  Control("3 / c", lambda tokens, power: checks.growth(tokens, power, 3))),
        sampled("the flow from beta1 = 3 is inside at beta1 = 1e4 and 1e6", checks.enters,
                tuple({"tokens": t, "power": k} for t in (8, 30) for k in (4, 6)),
                Control("T + 1", lambda tokens, power: checks.enters(tokens, power, 1))),
        hypotheses=("T = 8, 30", "beta1 >= 1e4", "interior position, four parameters"),
        coverage=everywhere("T = 8 and 30 are all that is stated; each wall is a box that holds beta1 = infinity, and "
                            "a region with every wall pointing inward is never left."),
        formula=r"\alpha_2=2\log\beta_1+\log\left(\frac{T-1}{2}+A+R\right),"
        r"\quad-\epsilon\le R\le\frac{A^2}{2}+\epsilon",
        is_correction=True,
    ),
)
