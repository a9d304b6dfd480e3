"""Which tests judge a mutant, and their verdict."""

import re
from collections.abc import Container, Iterable, Mapping
from pathlib import Path
from typing import Any

from benchmarks import mutation_run as run

# The ledger takes longer to load than a mutant to judge: its claims speak only on lines that no other test runs.
LEDGER = "tests/proofs_check/ledger/test_claims.py::"
TESTS_LEFT_OUT = ("test_claims_by_hypothesis.py",)
SLOW_SECONDS = 5.0
# Seconds of tests, as measured on the original, for those that run the mutant's line and for the module's others.
NEAR_SECONDS, FAR_SECONDS = 8.0, 3.0
FIRST = 20


class Judge:
    """Chooses tests for a mutant from one measured pass over the original: those that run its line come first.

    `measured` is what `mutation_run.baseline` found; of its tests only those in `among` speak (default: all).
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
        outcome = run.Outcome("survived", "no test runs it")
        # The likeliest killers go alone first: pytest imports the files of all tests it is given before it runs one.
        for some in (tests[:FIRST], tests[FIRST:]):
            if some:
                outcome = run.run_mutant(self._root, mutant.path, mutant.source, some, self._seconds)
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
        outcome = run.run_mutant(self._root, path, (self._root / path).read_text(), tests, self._seconds)
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
    return sorted(f for f in files if not f.endswith(TESTS_LEFT_OUT))


def measured_judge(root: Path, rooms: Iterable[str]) -> Judge:
    """A judge who has run the tests of the rooms once on the unchanged code."""
    print("running the tests once on the unchanged code", flush=True)
    run.preload()
    return Judge(root, run.baseline(root, test_files(root, rooms)))
