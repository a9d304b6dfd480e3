"""Run tests against mutants in forked children: third-party packages are imported once, the project afresh in each.

The mutant never reaches the disk: the child's importer hands out its source in place of the module's own. A child gets
ten times the processor time that its test took on the original, so a loaded machine does not turn slow into killed.
"""

import gc
import importlib
import importlib.machinery
import json
import os
import resource
import select
import signal
import sys
import time
from collections.abc import Callable, Container, Iterable
from dataclasses import dataclass
from pathlib import Path
from types import CodeType
from typing import Any

PRELOADED = (
    "pytest", "hypothesis", "hypothesis.strategies", "hypothesis.extra.numpy", "hypothesis.core", "numpy",
    "sympy", "sympy.stats", "mpmath", "flint", "scipy.special", "scipy.optimize", "scipy.integrate", "scipy.stats",
    "scipy.linalg", "torch", "joblib", "_hypothesis_pytestplugin", "_hypothesis_globals",
)  # fmt: skip
PACKAGES = ("theory", "dynamics", "proofs_check", "scripts")
PROJECT = (*PACKAGES, "tests")
OPTIONS = ("-q", "--assert=plain", "--no-header", "--tb=no", "-p", "no:cov", "-p", "no:xdist")
CHOICE = ("-m", "not deep and not gpu", "--continue-on-collection-errors")
CHILD_WALL_SECONDS = 300.0
CPU_FLOOR_SECONDS = 4.0


@dataclass(frozen=True)
class Outcome:
    status: str  # "killed", "survived" or "timeout"
    killer: str = ""
    seconds: float = 0.0


class _Planted(importlib.machinery.SourceFileLoader):
    def __init__(self, name: str, path: str, source: str) -> None:
        super().__init__(name, path)
        self._source = source

    def get_code(self, fullname: str) -> CodeType:
        return compile(self._source, self.path, "exec")


class _Importer:
    """Finds one module, and finds it mutated."""

    def __init__(self, name: str, path: str, source: str) -> None:
        self._name, self._loader = name, _Planted(name, path, source)

    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> importlib.machinery.ModuleSpec | None:
        if fullname != self._name:
            return None
        package = self._loader.path.endswith("/__init__.py")
        spec = importlib.machinery.ModuleSpec(fullname, self._loader, origin=self._loader.path, is_package=package)
        spec.has_location = True  # a module may ask for its __file__
        if package:
            spec.submodule_search_locations = [str(Path(self._loader.path).parent)]
        return spec


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
        try:
            importlib.import_module(name)
        except ImportError:
            continue
    torch = sys.modules.get("torch")
    if torch is not None:
        torch.set_num_threads(1)
    gc.collect()
    gc.freeze()


def in_child(
    root: Path, body: Callable[[Callable[[str], None]], int], limit: float = CHILD_WALL_SECONDS
) -> tuple[int, str, float]:
    """Run `body(tell)` in a forked child in `root`: its wait status, what it told, and its wall time."""
    start = time.perf_counter()
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        _be_child(root, body, writer)
    os.close(writer)
    try:
        told = _listen(reader, start + limit)
        if told is None:
            os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
    except BaseException:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        raise
    finally:
        os.close(reader)
    return status, told or "", time.perf_counter() - start


def _be_child(root: Path, body: Callable[[Callable[[str], None]], int], writer: int) -> None:
    code = 70
    try:
        gc.freeze()  # what the parent has imported is not for the child to go through
        os.chdir(root)
        sys.path[:] = [str(root), *(entry for entry in sys.path if entry not in ("", os.getcwd()))]
        for name in [name for name in sys.modules if name.split(".")[0] in PROJECT]:
            del sys.modules[name]  # the parent's are not those of the copy, and would be run in a mutant's place
        silent = os.open(os.devnull, os.O_RDWR)
        if not os.environ.get("MUTATE_DEBUG"):
            for stream in (0, 1, 2):
                os.dup2(silent, stream)
        resource.setrlimit(resource.RLIMIT_DATA, (6 << 30, 6 << 30))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        code = body(lambda text: (os.write(writer, f"{text}\n".encode()), None)[1])
    except BaseException:
        sys.excepthook(*sys.exc_info())
    finally:
        sys.stderr.flush()
        os._exit(code)


def _listen(reader: int, deadline: float) -> str | None:
    """All that the child writes until it ends, or None past the deadline."""
    chunks = []
    while True:
        ready, _, _ = select.select([reader], [], [], max(0.0, deadline - time.perf_counter()))
        if not ready:
            return None
        chunk = os.read(reader, 65536)
        if not chunk:
            return b"".join(chunks).decode()
        chunks.append(chunk)


def run_mutant(root: Path, path: str, source: str, tests: Iterable[str], seconds: dict[str, float]) -> Outcome:
    """Killed by the first test that fails (or by failing to import), timeout, or survived."""
    module = path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")

    def body(tell: Callable[[str], None]) -> int:
        import pytest

        sys.meta_path.insert(0, _Importer(module, str(root / path), source))
        limit_cpu(10 * CPU_FLOOR_SECONDS)
        return int(pytest.main(["-x", *OPTIONS, *tests], plugins=[_Watch(seconds, tell)]))

    status, told, elapsed = in_child(root, body)
    if os.WIFSIGNALED(status) and os.WTERMSIG(status) in (signal.SIGPROF, signal.SIGKILL):
        return Outcome("timeout", "", elapsed)
    if os.WIFEXITED(status) and os.WEXITSTATUS(status) == 0:
        return Outcome("survived", "", elapsed)
    return Outcome("killed", told.split("\n")[0] or "import or collection", elapsed)


def collected(root: Path, tests: Iterable[str]) -> list[str]:
    """The names of the tests in these files."""

    def body(tell: Callable[[str], None]) -> int:
        import pytest

        return int(pytest.main([*OPTIONS, *CHOICE, "--collect-only", *tests], plugins=[_Names(tell)]))

    return in_child(root, body, limit=3600.0)[1].splitlines()


def baseline(root: Path, tests: Iterable[str], only: Container[str] | None = None) -> dict[str, Any]:
    """One pass over the original: seconds of each test, and for each file and line the tests that run it.

    Of the tests in these files only those named in `only` run (default: all). Lines run while modules are imported are
    listed under the empty name; tests that fail are listed as `failed`. Raises RuntimeError where none can be run.
    """
    report = root / "baseline.json"

    def body(tell: Callable[[str], None]) -> int:
        import coverage
        import pytest

        sys.dont_write_bytecode = False
        cover = coverage.Coverage(source=[*PACKAGES], data_file=None, config_file=False)
        recorder = _Recorder(cover, tell, only)
        cover.start()
        code = int(pytest.main([*OPTIONS, *CHOICE, *tests], plugins=[recorder]))
        cover.stop()
        data = cover.get_data()
        lines = {str(Path(f).relative_to(root)): data.contexts_by_lineno(f) for f in data.measured_files()}
        report.write_text(json.dumps({"seconds": recorder.seconds, "lines": lines}))
        return code

    status, told, _ = in_child(root, body, limit=4 * 3600.0)
    if not os.WIFEXITED(status) or os.WEXITSTATUS(status) not in (0, 1) or not report.exists():
        raise RuntimeError("the tests do not run on the unchanged code")
    found: dict[str, Any] = json.loads(report.read_text())
    found["failed"] = sorted(set(told.splitlines()))
    return found


class _Names:
    def __init__(self, tell: Callable[[str], None]) -> None:
        self._tell = tell

    def pytest_collection_finish(self, session: Any) -> None:
        for item in session.items:
            self._tell(item.nodeid)


class _Recorder:
    def __init__(self, cover: Any, tell: Callable[[str], None], only: Container[str] | None) -> None:
        self._cover, self._tell, self._only = cover, tell, only
        self.seconds: dict[str, float] = {}

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
            self._tell(report.nodeid)
