"""Table 5 at a small scale: how the heads of trained one-layer models mix, in counts and on the theorem's map.

Quick evidence re-reads the shipped heads, whose bytes are checked against their recorded hash; where a statement is
about each head, full evidence adds the heads of models trained afresh from seeds that the shipped ones do not have.
"""

from collections.abc import Callable
from typing import Any

import sympy as sp

from proofs_check.kv.trained import coupling_checks as c
from proofs_check.kv.trained.comparisons import Compared, Found
from proofs_check.kv.trained.outcomes import outcome
from proofs_check.ledger.claim import INSTANCES, Claim, Control, Effort, Evidence, Kind, everywhere
from proofs_check.ledger.mathematical import ONCE, exact, mathematical, symbolic
from theory.symbols import alpha1, alpha2

APPENDIX = "KV shifting (final), Appendix F"
ADDITION = "KV shifting (both versions), Theorem 3.4 and Appendix C, our addition"
SETTING = (
    "one layer of width 32 with 8 heads and no MLP, 32 seeds; vocabulary 32, rows of about 5 tokens, 1000 steps of 64 "
    "rows, AdamW at 3e-3"
)
FRESH = (1000, 1001)
BOTH = ({"name": "alpha"}, {"name": "beta"})
KEYS, VALUES = ({"name": "start_alpha"},), ({"name": "start_beta"},)
AT_THE_START = KEYS + VALUES
AT_FIRST = Control("the same heads at the start", points=({"trained": False},))


def _seeds(effort: Effort) -> list[dict[str, int | None]]:
    return [{"seed": seed} for seed in ((None,) if effort is Effort.QUICK else (None, *FRESH))]


def _counts(what: str, *expected: int) -> Evidence:
    """The numbers that a statement names."""
    changed = ({"what": what, "expected": (*expected[:-1], expected[-1] + 1)},)
    (piece,) = _trained(
        "the counts", c.count, ({"what": what, "expected": expected},), Control("one more", None, changed)
    )
    return piece


def _by_layer(test: Callable[..., Found], said: str, *controls: Control, told: bool = True, **point: Any) -> Evidence:
    """A sign test over layers, and how many of those that lean do so to the named side."""
    (piece,) = _trained("layers that lean to one side", Compared(test, told), ({"said": said, **point},), *controls)
    return piece


def _trained(scope: str, margin: Any, points: Any, *controls: Control) -> tuple[Evidence, ...]:
    return (Evidence(Kind.TRAINED, f"{scope}; {SETTING}; shipped heads, re-read", margin, points, controls),)


CLAIMS: tuple[Claim, ...] = (
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
        ),
        exact(
            "the same pairs, by size",
            c.sizes_stay,
            c.UNEQUAL,
            Control("with their signs", lambda alpha: c.sizes_stay(alpha, lambda c: c)),
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
    outcome(
        "kv.beyond.sign_rule.trained",
        ADDITION,
        "Trained heads keep the sign rule: of 256 heads (32 layers of width 32, vocabulary 32) alpha2 beta1, with "
        "their own gains, is positive in 232 and in most heads of each layer, below -1/2 in none, and beyond 10 in "
        "some.",
        _counts("signs", 232, 256),
        _by_layer(c.signs, "32 of 32", Control("beta2 for beta1", points=({"place": c.previous_and_previous},))),
        *_trained(
            "every head",
            c.no_large_breach,
            _seeds,
            Control("alpha1 for alpha2", lambda seed: c.no_large_breach(None, lambda h: (h.key[0], h.value[0]))),
            Control("beta2 for beta1", lambda seed: c.no_large_breach(None, lambda h: (h.key[1], h.value[1]))),
        ),
    ),
    outcome(
        "kv.beyond.route.trained",
        ADDITION,
        "Both routes of the theory are taken: 30 of 32 trained layers (width 32, 8 heads, vocabulary 32) hold an "
        "induction head (alpha2, beta1 > 1/2) and an anti-induction head (alpha2, beta1 < -1/2), with their own gains.",
        _by_layer(c.models_with_both, "30 of 32", Control("heads of opposite signs", points=({"sign": -1},))),
    ),
    outcome(
        "kv.tab5.upper_right.trained",
        f"{APPENDIX}, text below Table 5, trained here",
        "In 32 trained layers (width 32, 8 heads, vocabulary 32) every head with more than half of its attention on "
        "the successor is in the upper right of Table 5 by size: |alpha1| < |alpha2|, |beta1| > |beta2|.",
        *_trained(
            "every head with more than half of its attention on the successor",
            c.all_upper_right,
            _seeds,
            Control("the same heads at the start", lambda seed: c.all_upper_right(None, trained=False)),
            Control("all heads", lambda seed: c.all_upper_right(None, c.heads)),
        ),
    ),
    outcome(
        "kv.tab5.coupled.trained",
        f"{APPENDIX}, first paragraph, with Table 5, trained here",
        "Independent at the start, alpha and beta are coupled after training on induction (256 heads in 32 layers of "
        "width 32, vocabulary 32): 12, 167, 40, 37 in the cells of Table 5 by size. The corners off the diagonal "
        "prevail in 24 of the 27 layers that lean to one side.",
        _counts("cells", 12, 167, 40, 37),
        _by_layer(c.coupled, "24 of 27", AT_FIRST),
    ),
    outcome(
        "kv.tab5.asymmetry.trained",
        f"{APPENDIX}, text below Table 5, trained here",
        "In 256 heads trained on induction (32 layers of width 32, vocabulary 32) the corners off the diagonal of "
        "Table 5 are not symmetrical: the lower left is the smaller, 40 against 167, in 30 of the 31 layers in "
        "which they differ.",
        _counts("cells", 12, 167, 40, 37),
        _by_layer(c.upper_right_larger, "30 of 31", AT_FIRST),
    ),
    outcome(
        "kv.tab5.diagonal.trained",
        f"{APPENDIX}, Table 5, against our models",
        "In 256 heads trained on induction alone (32 layers of width 32, vocabulary 32) the diagonal of Table 5 does "
        "not dominate: 207 lie off it, 167 of them in the cell of induction heads. Off it are most heads in 31 of "
        "the 32 layers.",
        _counts("cells", 12, 167, 40, 37),
        _by_layer(c.off_diagonal, "31 of 32", AT_FIRST),
        note="kv.tab5.diagonal is about a language model, whose other tasks these models do not have.",
    ),
    outcome(
        "kv.appF.sums.trained",
        f"{APPENDIX}.1, trained here",
        "In most of 256 heads trained on induction (32 layers of width 32, vocabulary 32) the sum of the coefficients "
        "of keys, and of values, is more than 1/10 away from 1, where it began.",
        *_trained("all heads", c.sums_left_one, BOTH, Control("at the start", points=AT_THE_START)),
        of="kv.appF.sums",
    ),
    outcome(
        "kv.appF1.negative.trained",
        f"{APPENDIX}.1, trained here",
        "Between 0 and 1 at the start, in a tenth or more of 256 heads trained on induction (32 layers of width 32, "
        "vocabulary 32) a coefficient of the keys ends below -1/2, and likewise of the values.",
        *_trained("all heads", c.some_negative, BOTH, Control("at the start", points=AT_THE_START)),
        of="kv.appF.sums",
    ),
    outcome(
        "kv.beyond.fate.trained",
        f"{APPENDIX}, our addition",
        "What a head becomes in training on induction (32 layers of width 32, vocabulary 32) goes with its values' "
        "start: of 119 heads that start with beta1 > beta2 108 come to attend to the successor, of the other 137 22, "
        "a larger share of the former in 31 of the 31 layers where the shares differ. For alpha1 > alpha2 it is so in "
        "14 of 29.",
        _counts("fate", 108, 11, 22, 115),
        _by_layer(c.decides, "31 of 31", Control("keys", points=KEYS), name="start_beta"),
        _by_layer(c.decides, "14 of 29", Control("values", points=VALUES), told=False, name="start_alpha"),
    ),
)
