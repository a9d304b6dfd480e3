"""Run tests against mutants in forked children: third-party packages are imported once, the project afresh in each; and
choose which tests judge a mutant.

The mutant never reaches the disk: the child's importer compiles its source in place of the file's own. A child gets
ten times the processor time that its test took on the original, so a loaded machine does not turn slow into killed.
"""

import gc
import importlib
import json
import multiprocessing
import os
import re
import resource
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Container, Iterable, Mapping
from contextlib import suppress
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import CodeType, SimpleNamespace
from typing import Any, NamedTuple

import pytest

PRELOADED = (
    "hypothesis", "hypothesis.strategies", "hypothesis.extra.numpy", "hypothesis.core", "numpy",
    "sympy", "sympy.stats", "mpmath", "flint", "scipy.special", "scipy.optimize", "scipy.integrate", "scipy.stats",
    "scipy.linalg", "torch", "joblib", "_hypothesis_pytestplugin", "_hypothesis_globals",
)  # fmt: skip
PACKAGES = ("theory", "dynamics", "proofs_check", "scripts")
PROJECT = (*PACKAGES, "tests")
OPTIONS = ("-q", "--assert=plain", "--no-header", "--tb=no", "-p", "no:cov", "-p", "no:xdist")
CHOICE = ("-m", "not deep and not gpu", "--continue-on-collection-errors")
CHILD_WALL_SECONDS = 300.0
CPU_FLOOR_SECONDS = 4.0
ROOM_BYTES = 6 << 30  # of memory, beyond what the child has of its parent
# The ledger takes longer to load than a mutant to judge: its claims speak only on lines that no other test runs.
LEDGER = "tests/proofs_check/ledger/test_claims.py::"
SLOW_SECONDS = 5.0
# Seconds of tests, as measured on the original, for those that run the mutant's line and for the module's others.
NEAR_SECONDS, FAR_SECONDS = 8.0, 3.0
FIRST = 20


class Outcome(NamedTuple):
    status: str  # "killed", "survived" or "timeout"
    killer: str = ""
    seconds: float = 0.0


class _Watch:
    """A pytest plugin: processor-time limit per test, and the name of the first test that fails."""

    def __init__(self, seconds: dict[str, float], tell: Callable[[str], None]) -> None:
        self._seconds, self._tell = seconds, tell

    def pytest_sessionstart(self) -> None:
        # A failure is enough; shrinking it would cost more than all the rest.
        h = importlib.import_module("hypothesis")
        phases = (h.Phase.explicit, h.Phase.generate)
        h.settings.register_profile("mutants", h.settings.get_profile("ci"), phases=phases)
        h.settings.load_profile("mutants")

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        limit_cpu(10 * self._seconds.get(nodeid, 1.0) + CPU_FLOOR_SECONDS)

    def pytest_runtest_logreport(self, report: Any) -> None:
        if report.failed:
            self._tell(report.nodeid)


def limit_cpu(seconds: float) -> None:
    """Die by SIGPROF, even inside compiled code, after so much more processor time."""
    signal.signal(signal.SIGPROF, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_PROF, seconds)


def preload() -> None:
    """Import what every child needs and no mutant touches; one thread each, for forked torch hangs with more."""
    sys.dont_write_bytecode = True
    for name in PRELOADED:
        with suppress(ImportError):
            importlib.import_module(name)
    if torch := sys.modules.get("torch"):
        torch.set_num_threads(1)
    gc.collect()
    gc.freeze()


def in_child(
    root: Path, body: Callable[[Callable[[str], None]], int], limit: float = CHILD_WALL_SECONDS
) -> tuple[int | None, str, float]:
    """Run `body(tell)` in a forked child in `root`: its exit code (minus a signal), what it told, and its wall time."""
    start = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        told = Path(folder, "told")
        told.touch()
        child = multiprocessing.get_context("fork").Process(target=_be_child, args=(root, body, told))
        child.start()
        try:
            child.join(limit)
        finally:
            child.kill()  # where it runs on, or the wait was interrupted
            child.join()
        return child.exitcode, told.read_text(), round(time.perf_counter() - start, 2)


def _be_child(root: Path, body: Callable[[Callable[[str], None]], int], told: Path) -> None:
    code = 70
    try:
        gc.freeze()  # what the parent has imported is not for the child to go through
        os.environ.pop("PYTEST_ADDOPTS", None)  # the child's pytest has no xdist to take its parent's options
        os.chdir(root)
        sys.path[:] = [str(root), *(entry for entry in sys.path if entry not in ("", os.getcwd()))]
        for name in [name for name in sys.modules if name.split(".")[0] in PROJECT]:
            del sys.modules[name]  # the parent's are not those of the copy, and would be run in a mutant's place
        if not os.environ.get("MUTATE_DEBUG"):
            silent = os.open(os.devnull, os.O_RDWR)
            for stream in (0, 1, 2):
                os.dup2(silent, stream)
        most = ROOM_BYTES + int(Path("/proc/self/statm").read_text().split()[5]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_DATA, (most, most))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        with told.open("w", buffering=1) as lines:
            code = body(lambda text: print(text, file=lines))
    except BaseException:
        sys.excepthook(*sys.exc_info())
    finally:
        sys.stderr.flush()
        os._exit(code)


def plant(path: str, source: str) -> None:
    """From now on this process, a child with one mutant to judge, imports the file as if it held the source.

    The class of the loader is changed, so that the module keeps its own loader, path and place among packages.
    """
    plain = SourceFileLoader.get_code

    def get_code(self: SourceFileLoader, fullname: str) -> CodeType | None:
        return compile(source, path, "exec") if self.path == path else plain(self, fullname)

    SourceFileLoader.get_code = get_code


def run_mutant(root: Path, path: str, source: str, tests: Iterable[str], seconds: dict[str, float]) -> Outcome:
    """Killed by the first test that fails (or by failing to import), timeout, or survived."""

    def body(tell: Callable[[str], None]) -> int:
        plant(str(root / path), source)
        limit_cpu(10 * CPU_FLOOR_SECONDS)
        return int(pytest.main(["-x", *OPTIONS, *tests], plugins=[_Watch(seconds, tell)]))

    code, told, elapsed = in_child(root, body)
    if code in (-signal.SIGPROF, -signal.SIGKILL):
        return Outcome("timeout", "", elapsed)
    if code == 0:
        return Outcome("survived", "", elapsed)
    return Outcome("killed", told.split("\n")[0] or "import or collection", elapsed)


def collected(root: Path, tests: Iterable[str]) -> list[str]:
    """The names of the tests in these files."""

    def body(tell: Callable[[str], None]) -> int:
        names = SimpleNamespace(pytest_collection_finish=lambda session: [tell(item.nodeid) for item in session.items])
        return int(pytest.main([*OPTIONS, *CHOICE, "--collect-only", *tests], plugins=[names]))

    return in_child(root, body, limit=3600.0)[1].splitlines()


def baseline(root: Path, tests: Iterable[str], only: Container[str] | None = None) -> dict[str, Any]:
    """One pass over the original: seconds of each test, and for each file and line the tests that run it.

    Of the tests in these files only those named in `only` run (default: all). Lines run while modules are imported are
    listed under the empty name; tests that fail are listed as `failed`. Raises RuntimeError where none can be run.
    """

    def body(tell: Callable[[str], None]) -> int:
        import coverage

        sys.dont_write_bytecode = False
        cover = coverage.Coverage(source=[*PACKAGES], data_file=None, config_file=False)
        recorder = _Recorder(cover, only)
        cover.start()
        code = int(pytest.main([*OPTIONS, *CHOICE, *tests], plugins=[recorder]))
        cover.stop()
        data = cover.get_data()
        lines = {str(Path(f).relative_to(root)): data.contexts_by_lineno(f) for f in data.measured_files()}
        tell(json.dumps({"seconds": recorder.seconds, "failed": sorted(recorder.failed), "lines": lines}))
        return code

    code, told, _ = in_child(root, body, limit=4 * 3600.0)
    if code not in (0, 1):
        raise RuntimeError("the tests do not run on the unchanged code")
    return json.loads(told)


class _Recorder:
    def __init__(self, cover: Any, only: Container[str] | None) -> None:
        self._cover, self._only = cover, only
        self.seconds: dict[str, float] = {}
        self.failed: set[str] = set()

    def pytest_collection_modifyitems(self, items: list[Any]) -> None:
        if self._only is not None:
            items[:] = [item for item in items if item.nodeid in self._only]

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        self._cover.switch_context(nodeid)

    def pytest_runtest_logfinish(self) -> None:
        self._cover.switch_context("")

    def pytest_runtest_logreport(self, report: Any) -> None:
        self.seconds[report.nodeid] = self.seconds.get(report.nodeid, 0.0) + report.duration
        if report.failed:
            self.failed.add(report.nodeid)


class Judge:
    """Chooses tests for a mutant from one measured pass over the original: those that run its line come first.

    `measured` is what `mutation_baseline` found; of its tests only those in `among` speak (default: all).
    """

    def __init__(self, root: Path, measured: Mapping[str, Any], among: Container[str] | None = None) -> None:
        self._root = root
        self._seconds: dict[str, float] = measured["seconds"]
        self._lines: dict[str, dict[str, list[str]]] = measured["lines"]
        slow = {test for test, seconds in self._seconds.items() if seconds > SLOW_SECONDS}
        for kind, tests in (("they fail unchanged", measured["failed"]), ("they are slow", sorted(slow))):
            if tests:
                print(f"left out, for {kind}: {', '.join(tests)}")
        usable = set(self._seconds) - slow - set(measured["failed"])
        self._usable = {test for test in usable if among is None or test in among}
        self._texts = {name: (root / name).read_text() for name in {test.split("::")[0] for test in self._usable}}
        self._kills: dict[tuple[str, str], int] = {}

    def verdict(self, mutant: Any) -> dict[str, Any]:
        tests = self._tests(mutant.path, mutant.line)
        outcome = Outcome("survived", "no test runs it")
        # The likeliest killers go alone first: pytest imports the files of all tests it is given before it runs one.
        for some in (tests[:FIRST], tests[FIRST:]):
            if some:
                outcome = run_mutant(self._root, mutant.path, mutant.source, some, self._seconds)
            if outcome.status != "survived":
                break
        if outcome.status == "killed":
            key = (mutant.path, outcome.killer)
            known = key in self._kills and outcome.killer in self._usable  # else pytest could not begin
            if not known and not self._passes_unchanged(mutant.path, some):
                return self.verdict(mutant)
            self._kills[key] = self._kills.get(key, 0) + 1
        about = {"digest": mutant.digest, "name": mutant.name, "path": mutant.path, "line": mutant.line}
        return about | outcome._asdict()

    def _passes_unchanged(self, path: str, tests: list[str]) -> bool:
        """Do they pass on the unchanged file in a child of the same make? What fails is left out from then on."""
        outcome = run_mutant(self._root, path, (self._root / path).read_text(), tests, self._seconds)
        if outcome.status != "survived":
            wrong = {outcome.killer} & self._usable or {*tests}
            print(f"left out, {outcome.status} on the unchanged {path}: {', '.join(sorted(wrong))}", flush=True)
            self._usable -= wrong
        return outcome.status == "survived"

    def _tests(self, path: str, line: int) -> list[str]:
        """Tests that run the line, then the others of the module, the deadliest and quickest of each first."""
        lines = self._lines.get(path, {})
        near = set(lines.get(str(line), ()))
        # What runs while modules are imported (constants, defaults, parameters of tests) is laid to no test.
        users = self._users(path)
        near |= users if "" in near else set()
        far = {test for test in users.union(*lines.values()) if not test.startswith(LEDGER)} - near
        quick = {test for test in near if not test.startswith(LEDGER)} & self._usable
        near, far = quick or near & self._usable, far & self._usable
        chosen: list[str] = []
        for group, budget in ((near, NEAR_SECONDS), (far, FAR_SECONDS)):
            for test in sorted(group, key=lambda t: (-self._kills.get((path, t), 0), self._seconds[t], t)):
                if self._seconds[test] <= budget:
                    chosen.append(test)
                    budget -= self._seconds[test]
        return chosen

    def _users(self, path: str) -> set[str]:
        """The tests in files that speak of the module."""
        word = re.compile(rf"\b{Path(path).stem}\b")
        files = {name for name, text in self._texts.items() if word.search(text)}
        return {test for test in self._usable if test.split("::")[0] in files and not test.startswith(LEDGER)}


def test_files(root: Path, rooms: Iterable[str]) -> list[str]:
    """The files of tests in these rooms, but for the one that only repeats others at drawn points."""
    files = {str(f.relative_to(root)) for room in rooms for f in (root / "tests" / room).rglob("test_*.py")}
    return sorted(files)


def measured_judge(root: Path, rooms: Iterable[str]) -> Judge:
    """A judge who has run the tests of the rooms once on the unchanged code."""
    print("running the tests once on the unchanged code", flush=True)
    preload()
    return Judge(root, baseline(root, test_files(root, rooms)))
