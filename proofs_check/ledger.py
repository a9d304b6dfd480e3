"""The whole ledger: run claims in worker processes and lay the results out as the JSON of `verify`."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from fractions import Fraction
from typing import Any, Protocol

import numpy as np

from proofs_check.claim import Claim, Effort, Kind, Nature, Status
from proofs_check.harness import ClaimResult, WitnessResult, run_claim, settle_corrections
from proofs_check.registry import load

STRONG = {Kind.KERNEL, Kind.SYMBOLIC, Kind.CERTIFIED, Kind.EXACT}


class Progress(Protocol):
    def update(self, n: int, /) -> Any: ...
    def close(self) -> Any: ...


def run_all(
    registry: Mapping[str, Claim], chosen: Sequence[str], effort: Effort, jobs: int, progress: Progress | None = None
) -> dict[str, ClaimResult]:
    """Results by id, in the registry's order, the same for any number of jobs."""
    try:
        found = {}
        for name, result in _stream(registry, chosen, effort, min(jobs, len(chosen))):
            found[name] = result
            if progress is not None:
                progress.update(1)
    finally:
        if progress is not None:
            progress.close()
    return settle_corrections({name: found[name] for name in chosen}, registry)


def _stream(registry: Mapping[str, Claim], chosen: Sequence[str], effort: Effort, jobs: int):
    if jobs < 2:
        for name in chosen:
            yield name, run_claim(registry[name], effort)
        return
    from joblib import Parallel, delayed

    papers = tuple(dict.fromkeys(registry[name].paper for name in chosen))
    runs = Parallel(n_jobs=jobs, return_as="generator_unordered", batch_size=1)
    for name, parts in runs(delayed(_run_by_name)(name, papers, effort) for name in chosen):
        yield name, ClaimResult(registry[name], *parts)


_LOADED: dict[tuple[str, ...], dict[str, Claim]] = {}


def _run_by_name(name: str, papers: tuple[str, ...], effort: Effort) -> tuple[str, tuple[Any, ...]]:
    """In a worker: claims hold functions that do not travel, so the worker loads its own registry, once."""
    if papers not in _LOADED:
        _LOADED[papers] = load(papers)
    result = run_claim(_LOADED[papers][name], effort)
    return name, (result.status, result.evidence, _plain_witness(result.witness), result.message)


def _plain_witness(witness: WitnessResult | None) -> WitnessResult | None:
    """The witness in JSON values: balls and symbols do not travel between processes."""
    if witness is None:
        return None
    point = {name: plain(value) for name, value in witness.point.items()}
    return WitnessResult(point, plain(witness.printed), plain(witness.true))


def document(results: Mapping[str, ClaimResult], effort: Effort) -> dict[str, Any]:
    """The JSON object of `verify`: {"claims": [...], "summary": {...}}."""
    rows = [_row(result) for result in results.values()]
    return {"claims": rows, "summary": _summary(results, effort)}


def _row(result: ClaimResult) -> dict[str, Any]:
    claim = result.claim
    witness = _plain_witness(result.witness)
    return {
        "id": claim.id,
        "paper": claim.paper,
        "source": claim.source,
        "statement": claim.statement,
        "formula": claim.formula,
        "hypotheses": [h if isinstance(h, str) else f"{h.low:g} <= {h.name} <= {h.high:g}" for h in claim.hypotheses],
        "nature": claim.nature.value,
        "verdict": claim.verdict.value,
        "status": result.status.value,
        "is_correction": claim.is_correction,
        "note": claim.note,
        "evidence": [
            {
                "kind": e.kind,
                "margin": e.margin,
                "points": e.points,
                "seconds": round(e.seconds, 4),
                "controls_rejected": e.controls_rejected,
                "controls": [control.name for control in claim.evidence[index].controls],
                "scope": e.scope,
            }
            for index, e in enumerate(result.evidence)
        ],
        "witness": None if witness is None else asdict(witness),
        "correction": claim.correction,
        "message": result.message,
    }


def _summary(results: Mapping[str, ClaimResult], effort: Effort) -> dict[str, Any]:
    status = Counter(result.status.value for result in results.values())
    own = [r for r in results.values() if not r.claim.is_correction]
    confirmed = [r for r in own if r.status is Status.CONFIRMED]
    mathematical = [r for r in confirmed if r.claim.nature is Nature.MATHEMATICAL]
    return {
        "claims": len(results),
        "status": {s.value: status[s.value] for s in Status},
        "confirmed_without_corrections": len(confirmed),
        "verdicts": dict(Counter(r.claim.verdict.value for r in own)),
        "mathematical": len(mathematical),
        "mathematical_strong": sum(any(e.kind in STRONG for e in r.claim.evidence) for r in mathematical),
        "effort": f"{effort.name.lower()}: {effort.value}",
        "seconds": round(sum(e.seconds for r in results.values() for e in r.evidence), 2),
        "supported": all(r.status in (Status.CONFIRMED, Status.NOT_CHECKED) for r in results.values()),
    }


def plain(value: Any) -> Any:
    """A JSON value: numbers and texts as they are, exact fractions as p/q, arrays as lists, all else as text."""
    if isinstance(value, bool | int | str) or value is None:
        return value
    if isinstance(value, Fraction):
        return str(value)
    if isinstance(value, float | np.floating):
        return float(value) if np.isfinite(value) else str(float(value))
    if isinstance(value, np.integer):
        return int(value)
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    return str(value)
