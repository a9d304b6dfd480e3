"""Short form for what came of training here: a statement of ours, with its sizes, beside the claim it bears on."""

from typing import Any

from proofs_check.ledger.claim import SAMPLES, Claim, Evidence, Nature, Verdict


def outcome(id: str, source: str, statement: str, *evidence: Evidence, of: str | None = None, **rest: Any) -> Claim:
    """An outcome of training; `of` names the paper's unsettled claim that it stands beside, `rest` goes to the record.

    It covers samples: the models, seeds and rows that its evidence names, and rules on no other model.
    """
    return Claim(
        id=id,
        source=source,
        statement=statement,
        nature=Nature.EMPIRICAL,
        verdict=Verdict.HOLDS,
        evidence=evidence,
        is_correction=True,
        coverage=SAMPLES,
        outcome_of=of,
        **rest,
    )
