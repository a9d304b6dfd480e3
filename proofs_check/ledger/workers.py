"""Run claims in processes of their own, so that none can end the run, or make it look good by ending early.

The process that reports imports no claim. A worker that dies takes its pool with it; the claims that may have been in
flight are then run one by one, and the one whose process ends again is an error.
"""

import os
import signal
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import BrokenExecutor, Executor, as_completed
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, partial
from typing import Any, Protocol

from proofs_check.ledger.claim import Claim
from proofs_check.ledger.registry import BrokenLedger, load, select

Row = dict[str, Any]
# Claims that a worker takes at once: neighbours share what they compute, and caches are a process's own.
_BLOCK = 16
# sympy keeps the last 1000 results of each of its functions, and a claim goes through more: with all of them kept the
# claims take 7 % less time, and 100 MB more.
# Workers of one thread each do not wait for one another: two of two threads on two cores take half as long again.
_ENVIRONMENT = {"SYMPY_CACHE_SIZE": "100000", "OMP_NUM_THREADS": os.environ.get("OMP_NUM_THREADS", "1")}


class Progress(Protocol):
    total: Any

    def update(self, n: int, /) -> Any: ...
    def close(self) -> Any: ...


@dataclass(frozen=True)
class Plan:
    """Which claims to run and how: `load` is called in each worker and must be importable there."""

    papers: tuple[str, ...]
    patterns: tuple[str, ...] | None = None
    verdict: str | None = None
    full: bool = False
    load: Callable[..., Any] = load

    @property
    def by_name(self) -> bool:
        """Are the claims named one by one? Then each is wanted in full, its mutants among the rest."""
        return self.patterns is not None and not any("*" in pattern for pattern in self.patterns)


def run(plan: Plan, jobs: int, progress: Progress | None = None) -> list[Row]:
    """One row a claim, in the registry's order, the same for any number of jobs.

    Raises: BrokenLedger where the claims cannot be loaded; ValueError for an unknown paper.
    """
    from proofs_check.ledger.rows import decided, settled

    if plan.patterns is not None and plan.by_name:
        jobs = min(jobs, len(plan.patterns))
    rows: dict[str, Row] = {}
    try:
        with processes(jobs) as pool:
            names = _ask(pool, _names, plan, jobs)
            if progress is not None:
                progress.total = len(names)
            _collect(pool, plan, names, rows, progress)
        # What a broken pool had in flight is at most what its workers held and what was next in line.
        flying = (2 * jobs + 2) * _BLOCK
        while left := [name for name in names if name not in rows]:
            rows.update(_one_by_one(plan, left[:flying]))
            with processes(jobs) as pool:
                _collect(pool, plan, left[flying:], rows, progress)
    finally:
        if progress is not None:
            progress.close()
    with processes(jobs) as pool:
        # These import no claim: a statement reaches them as data, and a certificate as what it is, an offer.
        wanted = [name for name in names if rows[name]["formal"] is not None]
        judged = partial(_judged, mutants=plan.full or plan.by_name)
        for name, found in zip(wanted, pool.map(judged, [rows[name] for name in wanted]), strict=True):
            rows[name] = decided(rows[name], found)
    return settled(rows[name] for name in names)


def _judged(entry: Row, mutants: bool) -> Row:
    from proofs_check.ledger.store import judge

    return judge(entry["formal"], entry.get("offer"), mutants)


def records_of(plan: Plan) -> list[Row]:
    """The rows of the plan's claims without their evidence. Raises BrokenLedger where they cannot be loaded."""
    with processes(1) as pool:
        return _ask(pool, _records, plan)


def _ask(pool: Executor, question: Callable[[Plan], list[Any] | str], plan: Plan, times: int = 1) -> list[Any]:
    """The answer of one worker; asked as often as there are workers, all load the claims at the same time."""
    try:
        first, *_ = [pool.submit(question, plan) for _ in range(times)]
        answer = first.result()
    except BrokenExecutor as end:
        raise BrokenLedger("a process ended while it loaded the claims") from end
    if isinstance(answer, str):
        raise BrokenLedger(answer)
    return answer


def _collect(pool: Executor, plan: Plan, names: Sequence[str], rows: dict[str, Row], progress: Progress | None) -> None:
    """Adds the rows of all names that the pool lives to run."""
    blocks = [names[k : k + _BLOCK] for k in range(0, len(names), _BLOCK)]
    try:
        futures = {pool.submit(_rows, plan, block): block for block in blocks}
        for future in as_completed(futures):
            rows.update(zip(futures[future], future.result(), strict=True))
            if progress is not None:
                progress.update(len(futures[future]))
    except BrokenExecutor:
        return


def _one_by_one(plan: Plan, names: Sequence[str]) -> Iterator[tuple[str, Row]]:
    """The rows of claims of which one may end its process: that one is known, and an error."""
    left, work = list(names), _row
    while left:
        try:
            with processes(1) as pool:
                while left:
                    row = pool.submit(work, plan, left[0]).result()
                    yield left.pop(0), row
                    work = _row
        except BrokenExecutor as end:
            if work is _ended:
                raise BrokenLedger(f"no process survives the claim {left[0]}") from end
            work = _ended


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
    signal.signal(signal.SIGINT, signal.SIG_IGN)


@cache
def _loaded(plan: Plan) -> Mapping[str, Claim]:
    claims: Mapping[str, Claim] = plan.load(plan.papers, plan.patterns)
    return claims


def _names(plan: Plan) -> list[str] | str:
    try:
        registry = _loaded(plan)
    except BrokenLedger as fault:
        return str(fault)
    return select(registry, plan.patterns, plan.verdict)


def _records(plan: Plan) -> list[Row] | str:
    from proofs_check.ledger.rows import record

    names = _names(plan)
    return names if isinstance(names, str) else [record(_loaded(plan)[name], _loaded(plan)) for name in names]


def _row(plan: Plan, name: str) -> Row:
    from proofs_check.ledger.claim import Effort
    from proofs_check.ledger.rows import row

    registry = _loaded(plan)
    found = row(registry[name], registry, Effort.FULL if plan.full else Effort.QUICK)
    if plan.full and registry[name].formal is not None:
        from proofs_check.ledger.store import offer

        found["offer"] = offer(registry[name])
    return found


def _rows(plan: Plan, names: Sequence[str]) -> list[Row]:
    return [_row(plan, name) for name in names]


def _ended(plan: Plan, name: str) -> Row:
    from proofs_check.ledger.rows import failed

    registry = _loaded(plan)
    return failed(registry[name], registry, "the process that ran its evidence ended early")
