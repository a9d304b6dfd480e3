"""Short form for what came of training here: a statement of ours, with its sizes, beside the claim it bears on."""

from typing import Any

from proofs_check.kv.trained.comparisons import UNTOLD
from proofs_check.ledger.claim import SAMPLES, Claim, Evidence, Nature, Verdict

OPEN = " Where an interval stands, the difference does not survive the correction for all comparisons."


def outcome(id: str, source: str, statement: str, *evidence: Evidence, of: str | None = None, **rest: Any) -> Claim:
    """An outcome of training; `of` names the paper's unsettled claim that it stands beside, `rest` goes to the record.

    It covers samples: the models, seeds and rows that its evidence names, and rules on no other model. Where one of its
    comparisons did not come out, its statement names the interval, and what is added here says so.
    """
    return Claim(
        id=id,
        source=source,
        statement=statement + OPEN * any(one.margin == UNTOLD for one in evidence),
        nature=Nature.EMPIRICAL,
        verdict=Verdict.HOLDS,
        evidence=evidence,
        is_correction=True,
        coverage=SAMPLES,
        outcome_of=of,
        **rest,
    )
