"""Table 5 at a small scale: how the heads of trained one-layer models mix, in counts and on the theorem's map.

What is told of the shipped heads is tested by layers; where a statement is about each head, full evidence adds the
heads of models trained afresh.
"""

from fractions import Fraction
from typing import Any

import sympy as sp

from proofs_check.kv.trained import coupling_checks as c
from proofs_check.ledger.claim import INSTANCES, Control, Effort, everywhere
from proofs_check.ledger.mathematical import ONCE, exact, mathematical, symbolic
from proofs_check.records.trained import Bound, Comparison, Trained
from theory.symbols import alpha1, alpha2

APPENDIX = "KV shifting (final), Appendix F"
ADDITION = "KV shifting (both versions), Theorem 3.4 and Appendix C, our addition"
BELOW = "Appendix F, text below Table 5, trained here"
ADDED = "Theorem 3.4, Appendix C (first version: Theorem 3), our addition"
HEADS = [c.TRAINED]
ALL, FOLLOWERS, AT_FIRST = c.GROUPS
ENDS, STARTS = ("alpha", "beta"), ("start_alpha", "start_beta")


def _seeds(run: Any, effort: Effort) -> tuple[int | None, ...]:
    """The shipped heads, and with full effort those of models trained afresh."""
    return (None,) if effort is Effort.QUICK else (None, 1000, 1001)


CLAIMS = (
    mathematical(
        "kv.tab5.gauge",
        f"{APPENDIX}, Table 5, our addition",
        "The signs of alpha and W_K can be changed together: this changes no key, and puts the pair in the other "
        "column of Table 5. Only counts of |alpha1| > |alpha2| and |beta1| > |beta2| are counts of the model.",
        symbolic(
            "alpha Shift(X) W with free symbols, N = 2, 3, D = 2",
            c.same_keys,
            ({"length": 2}, {"length": 3}),
            Control("W_K unchanged", lambda length: c.same_keys(length, 1)),
        ),
        exact(
            "quarters from -3/2 to 3/2, of unequal size",
            c.moves,
            c.UNEQUAL,
            Control("both signs kept", lambda alpha: c.moves(alpha, 1)),
            Control("with their signs", lambda alpha: c.moves(alpha, sizes=lambda one: one)),
        ),
        is_correction=True,
        formula=r"\alpha KW=(-\alpha)K(-W)",
        coverage=INSTANCES,
    ),
    mathematical(
        "kv.beyond.sign_rule",
        ADDITION,
        "For T >= 5 the logit of the right answer less that of an unrelated token is (e^alpha2 - 1) beta1 / S: the "
        "right answer is ahead only where alpha2 and beta1 have one sign, both positive (induction) or both negative.",
        symbolic(
            "interior position, all symbols free",
            lambda: c.outranks(sp.exp(alpha2) - 1),
            ONCE,
            Control("alpha1 in the place of alpha2", lambda: c.outranks(sp.exp(alpha1) - 1)),
        ),
        is_correction=True,
        formula=r"l_{i+1}-l_o=\frac{(e^{\alpha_2}-1)\beta_1}{S}",
        coverage=everywhere(
            "An identity in T and the four parameters as free symbols; its sign is that of the product."
        ),
        hypotheses=("interior position, T >= 5", "logits at d = infinity (kv.eq10.corrected)"),
    ),
    Trained("kv.beyond.sign_rule.trained", ADDED, runs=HEADS, counts=[c.kept_signs],
            ahead=[Comparison(c.signs, (), ("alpha2 beta2",))], bounds=[
                Bound(c.lowest, ["alpha2 beta1"], "at least", Fraction(-1, 2),
                      ["alpha1 beta1", "alpha2 beta2"], _seeds),
                Bound(c.highest, ["alpha2 beta1"], "at least", Fraction(10), ["alpha1 beta1"], _seeds)]),
    Trained("kv.beyond.route.trained", ADDED, runs=HEADS, ahead=[Comparison(c.models_with_both, (), (-1,))],
            why="Both routes of the theory are taken."),
    Trained("kv.tab5.upper_right.trained", BELOW, runs=HEADS, bounds=[
        Bound(c.elsewhere, [FOLLOWERS], "below", Fraction(1, 1000), [ALL, AT_FIRST], _seeds)]),
    Trained("kv.tab5.coupled.trained", "Appendix F, first paragraph, with Table 5, trained here", runs=HEADS,
            counts=[c.cells_by_size], ahead=[Comparison(c.coupled, (), (False,))]),
    Trained("kv.tab5.asymmetry.trained", BELOW, runs=HEADS, counts=[c.cells_by_size],
            ahead=[Comparison(c.upper_right_larger, (), (False,))]),
    Trained("kv.tab5.diagonal.trained", "Appendix F, Table 5, trained here", runs=HEADS, counts=[c.cells_by_size],
            ahead=[Comparison(c.off_diagonal, (), (False,))],
            why="kv.tab5.diagonal is about a language model, whose other tasks these models do not have."),
    Trained("kv.appF.sums.trained", "Appendix F.1, trained here", runs=HEADS, bounds=[
        Bound(c.sums_off_one, ENDS, "at least", Fraction(1, 2), STARTS)], outcome_of="kv.appF.sums"),
    Trained("kv.appF1.negative.trained", "Appendix F.1, trained here", runs=HEADS, bounds=[
        Bound(c.negative, ENDS, "at least", Fraction(1, 10), STARTS)], outcome_of="kv.appF.sums"),
    Trained("kv.beyond.fate.trained", "Appendix F, our addition", runs=HEADS, counts=[c.fates],
            ahead=[Comparison(c.decides, ("beta",), ("alpha",))], left=[Comparison(c.decides, ("alpha",), ("beta",))],
            why="What a head becomes goes with its values' start."),
)  # fmt: skip
