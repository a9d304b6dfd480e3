"""Figure 1a at a small scale: one layer with KV shifting against one and two vanilla layers, by checkpoints.

The comparison is at a size at which two vanilla layers learn too (presets small-*, see `dynamics.model.config`). At the
size of the paper's own data (vocabulary 8000, the exact length law) two vanilla layers are far from learning in the
time that is affordable here; there only what KV shifting can do is claimed. Quick evidence re-evaluates the shipped
checkpoints, whose bytes are checked against recorded hashes; full evidence retrains.
"""

from fractions import Fraction
from functools import lru_cache

from proofs_check.kv.trained.sweeps import FIGURE_1A, ONE, TWO
from proofs_check.ledger.claim import Effort
from proofs_check.records.shipped import CHECKPOINT, Run, retrained
from proofs_check.records.trained import Bound, Trained, pair, reaches, stays_below

KV = ("figure-1a", "kv-shift")


@lru_cache(maxsize=16)
def accuracy(of: Run, seed: int | None) -> float:
    """The share of held-out sentences that a model answers."""
    from dynamics.training.checkpoint import shipped
    from dynamics.training.evaluation import evaluate
    from dynamics.training.folder import heldout_of

    if seed is None:
        found = shipped(of[1])
        return float(evaluate(found.model, heldout_of(found)).accuracy)
    return float(evaluate(*retrained(of, seed)).accuracy)


def _seeds(run: Run, effort: Effort) -> tuple[int | None, ...]:
    """What ships, and with full effort models that are trained afresh."""
    return (None,) if effort is Effort.QUICK else (None, 1, 2)


def apart(of: tuple[Run, Run]) -> float:
    """The difference of the shares of held-out sentences that two models answer."""
    first, second = (accuracy(one, None) for one in of)
    return first - second


def weights(name: str) -> Run:
    return CHECKPOINT, name


CLAIMS = (
    Trained("kv.fig1a.kv_shift.trained", FIGURE_1A, bounds=[
        Bound(accuracy, [weights("kv-shift")], "at least", Fraction(99, 100), [weights("vanilla-1")], _seeds,
              shown=False),
        reaches(99, KV, unlike=[ONE])], outcome_of="kv.fig1a.kv_shift"),
    Trained("kv.fig1a.one_layer.trained", FIGURE_1A, bounds=[stays_below(50, ONE, unlike=[KV, TWO])],
            outcome_of="kv.fig1a.one_layer"),
    Trained("kv.fig1a.faster.trained", FIGURE_1A, ahead=[pair(KV, TWO, Fraction(1, 2))],
            outcome_of="kv.fig1a.faster"),
)  # fmt: skip
