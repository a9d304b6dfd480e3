"""Run claims in processes of their own, so that none can end the run, or make it look good by ending early.

The process that reports imports no claim. It puts each row together from three others: the record as read by a process
that runs no evidence, what was measured by one that does, and what the core says in one that imports no claim. They
answer in JSON, so that nothing but numbers and texts comes over. A worker that dies takes its pool with it; the claims
that may have been in flight are then run one by one, and the one whose process ends again is an error.
"""

import atexit
import gc
import json
import os
import signal
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import BrokenExecutor, Executor, as_completed
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, partial
from typing import Any, Protocol

from proofs_check.ledger import shipped
from proofs_check.ledger.claim import Claim
from proofs_check.ledger.registry import BrokenLedger, load, select
from proofs_check.ledger.row import Row, from_json

Found = dict[str, Any]  # what a worker measured of a claim, or what the core says of a statement
# Claims that a worker takes at once: neighbours share what they compute, and caches are a process's own.
_BLOCK = 16
# sympy keeps the last 1000 results of each of its functions, and a claim goes through more: with all of them kept the
# claims take 7 % less time, and 100 MB more.
# Workers of one thread each do not wait for one another: two of two threads on two cores take half as long again.
# What a worker keeps is no leak. loky replaces one that has grown by 0.3 GB, and the new one loads all claims again.
_KEEPS = 2 * 10**9
_ENVIRONMENT = {"SYMPY_CACHE_SIZE": "100000", "OMP_NUM_THREADS": os.environ.get("OMP_NUM_THREADS", "1")}


class Progress(Protocol):
    def update(self, n: int, /) -> Any: ...
    def close(self) -> Any: ...


@dataclass(frozen=True)
class Plan:
    """Which claims to run and how: `load` is called in each worker and must be importable there."""

    papers: tuple[str, ...] | None = None
    patterns: tuple[str, ...] | None = None
    verdict: str | None = None
    full: bool = False
    load: Callable[..., Any] = load

    @property
    def by_name(self) -> bool:
        """Are the claims named one by one? Then each is wanted in full, its mutants among the rest."""
        return self.patterns is not None and not any("*" in pattern for pattern in self.patterns)


def run(plan: Plan, jobs: int, started: Callable[[list[Row]], Progress] | None = None) -> list[Row]:
    """One row a claim, in the registry's order, the same for any number of jobs.

    Args: started, called with the records before any evidence runs; what it returns is told of each claim that has run
        and of each statement that the core has decided.
    Raises: BrokenLedger where the claims cannot be loaded, or what ships is not what was committed; ValueError for an
    unknown paper, and where no claim is left.
    """
    from proofs_check.ledger.rows import decided, measured, settled

    if faults := shipped.faults():
        raise BrokenLedger(*faults)
    if plan.patterns is not None and plan.by_name:
        jobs = min(jobs, len(plan.patterns))
    found: dict[str, Found] = {}
    progress: Progress | None = None
    try:
        with processes(jobs) as pool:
            for _ in range(jobs):  # all load the claims while another process reads the records
                pool.submit(_ready, plan)
            rows = {row.id: row for row in records_of(plan)}
            if started is not None:
                progress = started(list(rows.values()))
            _collect(pool, plan, list(rows), found, progress)
        # What a broken pool had in flight is at most what its workers held and what was next in line.
        flying = (2 * jobs + 2) * _BLOCK
        while left := [name for name in rows if name not in found]:
            found.update(_one_by_one(plan, left[:flying]))
            with processes(jobs) as pool:
                _collect(pool, plan, left[flying:], found, progress)
        rows = {name: measured(row, found[name]) for name, row in rows.items()}
        with processes(jobs) as pool:
            # These import no claim: a statement reaches them as data, and a certificate as what it is, an offer.
            wanted = [name for name, row in rows.items() if row.formal is not None]
            offered = [(rows[name].formal, found[name].get("offer"), rows[name].case) for name in wanted]
            judged = partial(_judged, mutants=plan.full or plan.by_name)
            for name, said in zip(wanted, pool.map(judged, offered), strict=True):
                rows[name] = decided(rows[name], said)
                if progress is not None:
                    progress.update(1)
    finally:
        if progress is not None:
            progress.close()
    return settled(rows.values())


def _judged(offered: tuple[Any, Found | None, Any], mutants: bool) -> Found:
    """What the core says of a statement, and the ruling where one is computed from what the core says."""
    from proofs_check.ledger.ruling import from_json, ruled
    from proofs_check.ledger.store import alone, judge, told_apart

    formal, offer, case = offered
    if case is None:
        return judge(formal, offer, mutants)
    ruling = ruled(from_json(case), alone, told_apart)
    found = judge(formal, offer, mutants) if mutants or offer is not None else alone(ruling.governs)
    severity = None if ruling.severity is None else ruling.severity.value
    return {**found, "ruling": [ruling.verdict.value, severity]}


def records_of(plan: Plan) -> list[Row]:
    """The rows of the plan's claims without their evidence, read in a process that runs none.

    Raises: as `run`.
    """
    try:
        with processes(1) as one:
            written: list[Any] = json.loads(one.submit(_records, plan).result())
    except BrokenExecutor as end:
        raise BrokenLedger("a process ended while it loaded the claims") from end
    return list(map(from_json, written))


def _collect(
    pool: Executor, plan: Plan, names: Sequence[str], found: dict[str, Found], progress: Progress | None
) -> None:
    """Adds what was measured of all names that the pool lives to run."""
    blocks = [names[k : k + _BLOCK] for k in range(0, len(names), _BLOCK)]
    try:
        futures = {pool.submit(_measured, plan, block): block for block in blocks}
        for future in as_completed(futures):
            found.update(zip(futures[future], json.loads(future.result()), strict=True))
            if progress is not None:
                progress.update(len(futures[future]))
    except BrokenExecutor:
        return


def _one_by_one(plan: Plan, names: Sequence[str]) -> Iterator[tuple[str, Found]]:
    """What was measured of claims of which one may end its process: that one is known, and an error."""
    from proofs_check.ledger.rows import unmeasured

    left = list(names)
    while left:
        try:
            with processes(1) as pool:
                while left:
                    (row,) = json.loads(pool.submit(_measured, plan, left[:1]).result())
                    yield left.pop(0), row
        except BrokenExecutor:
            yield left.pop(0), unmeasured("the process that ran its evidence ended early")


@contextmanager
def processes(workers: int) -> Iterator[Any]:
    """A pool of processes; an interruption does not wait for work that nobody will read."""
    from joblib.externals.loky import ProcessPoolExecutor

    pool = ProcessPoolExecutor(max_workers=workers, initializer=_quiet, env=_ENVIRONMENT)
    try:
        yield pool
    except BaseException:
        pool.shutdown(wait=True, kill_workers=True)
        raise
    pool.shutdown(wait=True)


def _quiet() -> None:
    """Ctrl-C is for the process that reports; it ends its workers itself."""
    from joblib.externals.loky import process_executor

    process_executor._MAX_MEMORY_LEAK_SIZE = _KEEPS
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    gc.set_threshold(100_000, 50, 50)  # terms hold no circles; looking for them takes one part in ten
    atexit.register(gc.freeze)  # no last collection, of all that was imported: it takes a second


@cache
def _loaded(plan: Plan) -> Mapping[str, Claim]:
    claims: Mapping[str, Claim] = plan.load(plan.papers, plan.patterns)
    return claims


def _ready(plan: Plan) -> None:
    _loaded(plan)


def _records(plan: Plan) -> str:
    from proofs_check.ledger.rows import record

    registry = _loaded(plan)
    rows = []
    for name in select(registry, plan.patterns, plan.verdict, plan.papers):
        try:
            rows.append(record(registry[name], registry).to_json())
        except Exception as fault:  # of another type than a claim's fields have
            raise BrokenLedger(f"the record of {name} cannot be read: {type(fault).__name__}: {fault}") from fault
    return json.dumps(rows)


def _measured(plan: Plan, names: Sequence[str]) -> str:
    return json.dumps([_row(plan, _loaded(plan)[name]) for name in names])


def _row(plan: Plan, claim: Claim) -> Found:
    from proofs_check.ledger.claim import Effort
    from proofs_check.ledger.harness import run_claim
    from proofs_check.ledger.rows import measurements

    found = measurements(run_claim(claim, Effort.FULL if plan.full else Effort.QUICK))
    if plan.full and claim.formal is not None:
        from proofs_check.ledger.store import offer

        found["offer"] = offer(claim.formal)
    return found
