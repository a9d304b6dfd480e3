"""Figure 1a at a small scale: one layer with KV shifting against one and two vanilla layers, by checkpoints.

The comparison is at a size at which two vanilla layers learn too (presets small-*, see `dynamics.model.config`). At the
size of the paper's own data (vocabulary 8000, the exact length law) two vanilla layers are far from learning in the
time that is affordable here; there only what KV shifting can do is claimed. Quick evidence re-evaluates the shipped
checkpoints, whose bytes are checked against recorded hashes; full evidence retrains.
"""

from fractions import Fraction

from proofs_check.kv.trained import checks as c
from proofs_check.kv.trained.sweeps import FIGURE_1A, ONE, TWO
from proofs_check.records.shipped import CHECKPOINT, Run
from proofs_check.records.trained import Bound, Trained, pair, reaches, stays_below

KV = ("figure-1a", "kv-shift")


def weights(name: str) -> Run:
    return CHECKPOINT, name


CLAIMS = (
    Trained("kv.fig1a.kv_shift.trained", FIGURE_1A, bounds=[
        Bound(c.accuracy, [weights("kv-shift")], "at least", Fraction(99, 100), [weights("vanilla-1")], c.reruns,
              shown=False),
        reaches(99, KV, unlike=[ONE])], outcome_of="kv.fig1a.kv_shift"),
    Trained("kv.fig1a.one_layer.trained", FIGURE_1A, bounds=[stays_below(50, ONE, unlike=[KV, TWO])],
            outcome_of="kv.fig1a.one_layer"),
    Trained("kv.fig1a.faster.trained", FIGURE_1A, ahead=[pair(KV, TWO, Fraction(1, 2))],
            outcome_of="kv.fig1a.faster"),
)
