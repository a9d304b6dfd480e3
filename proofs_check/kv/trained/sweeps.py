"""Figures 1a, 1b and 7a at a small scale: steps to learn induction over eight seeds, censored runs included.

The comparison is at a size at which two vanilla layers learn too (presets small-*, see `dynamics.model.config`). At the
size of the paper's own data (vocabulary 8000, the exact length law) two vanilla layers are far from learning in the
time that is affordable here; there only what KV shifting can do is claimed, by checkpoints that full evidence retrains.
"""

from fractions import Fraction

from proofs_check.kv.trained import checks as c
from proofs_check.records.shipped import CHECKPOINT, Run
from proofs_check.records.trained import Bound, Trained, pair, reaches, stays_below

FIGURE_1A, FIGURE_1B = (f"Section 3.2, Figure {name} (both versions), trained here" for name in ("1a", "1b"))
FIGURE_7A = "Section 4.5, Figure 7a (first version: Section 4.7, Figure 8b), our addition"
ONE, TWO, FOUR = (("figure-1a", f"vanilla-{layers}") for layers in (1, 2, 4))
NONE, KEYS, VALUES, BOTH, ALL = (("figure-7a", name) for name in ("none", "k", "v", "kv", "qkv"))
KV, WEIGHTS = ("figure-1a", "kv-shift"), [(CHECKPOINT, name) for name in ("kv-shift", "vanilla-1", "vanilla-2")]
NARROW_KV = ("figure-1b", "kv-shift.width-8")


def vanilla(width: int) -> Run:
    return "figure-1b", f"vanilla-2.width-{width}"


CLAIMS = (
    Trained("kv.fig1a.kv_shift.trained", FIGURE_1A, bounds=[
        Bound(c.accuracy, [WEIGHTS[0]], "at least", Fraction(99, 100), [WEIGHTS[1]], c.reruns, shown=False),
        reaches(99, KV, unlike=[ONE])], outcome_of="kv.fig1a.kv_shift"),
    Trained("kv.fig1a.one_layer.trained", FIGURE_1A, bounds=[stays_below(50, ONE, unlike=[KV, TWO])],
            outcome_of="kv.fig1a.one_layer"),
    Trained("kv.fig1a.faster.trained", FIGURE_1A, ahead=[pair(KV, TWO, Fraction(1, 2))],
            outcome_of="kv.fig1a.faster"),
    Trained("kv.fig1a.two_layers.trained", FIGURE_1A, bounds=[reaches(99, TWO, unlike=[ONE])],
            outcome_of="kv.fig1a.two_layers"),
    Trained("kv.fig1a.four_layers.here", FIGURE_1A, left=[pair(FOUR, TWO), pair(FOUR, TWO, Fraction(1, 2))],
            outcome_of="kv.fig1a.four_layers"),
    Trained("kv.fig1b.width.trained", FIGURE_1B, ahead=[pair(vanilla(32), vanilla(16))],
            left=[pair(vanilla(16), vanilla(8)), pair(vanilla(32), vanilla(64))], outcome_of="kv.fig1b.width"),
    Trained("kv.fig1b.poor.trained", FIGURE_1B, bounds=[stays_below(50, vanilla(8), unlike=[NARROW_KV])],
            outcome_of="kv.fig1b.poor"),
    Trained("kv.fig1b.answers.trained", FIGURE_1B, bounds=[
        Bound(c.over_guess, [vanilla(8)], "below", Fraction(1), unlike=[NARROW_KV, vanilla(16)])],
            outcome_of="kv.fig1b.answers"),
    Trained("kv.fig1b.kv_shift.trained", FIGURE_1B, left=[pair(NARROW_KV, vanilla(8))], outcome_of="kv.fig1b.kv_shift"),
    Trained("kv.fig7a.induction.keys", FIGURE_7A, bounds=[reaches(95, KEYS, unlike=[VALUES, NONE])],
            outcome_of="kv.fig7a"),
    Trained("kv.fig7a.induction.values", FIGURE_7A, bounds=[stays_below(70, VALUES, NONE, unlike=[KEYS, BOTH])],
            outcome_of="kv.fig7a"),
    Trained("kv.fig7a.induction.query", f"Appendix G, {FIGURE_7A}",
            left=[pair(ALL, BOTH), pair(ALL, BOTH, Fraction(3, 4))]),
)  # fmt: skip
