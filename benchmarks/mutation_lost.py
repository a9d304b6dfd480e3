"""Kills lost: small wrong changes that the tests of an earlier commit noticed and today's tests do not.

Usage: python -m benchmarks.mutation_lost COMMIT [--sample N] [--seed S] [--budget-minutes M] [--out FILE]

Both sets of tests run on today's code. The mutants are drawn from the lines that the gone tests ran: those of COMMIT
that are no more, or are changed. Today's tests judge first; where they see nothing, the gone tests judge. A test of
COMMIT that fails on today's code has no say. What the passes over the unchanged code measured is kept beside FILE.
"""

import argparse
import ast
import io
import json
import random
import shutil
import subprocess
import sys
import tarfile
import time
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from benchmarks import mutation_run
from benchmarks.mutate import copied, ground_of
from benchmarks.mutation_judge import Judge, test_files
from scripts.cli import run

ROOMS = ("theory", "dynamics", "proofs_check", "scripts")


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.mutation_lost", description=__doc__.split("\n")[0])
    parser.add_argument("commit", help="whose tests are compared with today's")
    parser.add_argument("--sample", type=int, default=600, help="mutants to draw (default 600)")
    parser.add_argument("--seed", type=int, default=0, help="of the drawing")
    parser.add_argument("--budget-minutes", type=float, default=240.0, help="stop there")
    parser.add_argument("--out", type=Path, default=Path("out/mutation-lost.jsonl"), help="one line a mutant")
    options = parser.parse_args(argv)
    options.out.parent.mkdir(parents=True, exist_ok=True)
    mutation_run.preload()
    with copied(Path.cwd()) as new, copied(Path.cwd()) as old:
        _take_tests(old, options.commit)
        before = _kept(options.out, old, test_files(old, ROOMS))
        changed = [name for name in test_files(new, ROOMS) if _text(new / name) != _text(old / name)]
        after = _joined(before, _kept(options.out, new, changed), set(test_files(new, ROOMS)) - {*changed})
        gone = gone_tests(old, new, before["seconds"], after["seconds"])
        print(f"{len(gone)} of {len(before['seconds'])} tests are gone or changed", flush=True)
        mutants = _drawn(new, places(before["lines"], gone), options.sample, options.seed)
        return _compare(Judge(new, after), Judge(old, before, gone), mutants, options)


def _take_tests(root: Path, commit: str) -> None:
    packed = subprocess.run(["git", "archive", commit, "tests"], capture_output=True, check=True).stdout
    shutil.rmtree(root / "tests")
    with tarfile.open(fileobj=io.BytesIO(packed)) as files:
        files.extractall(root, filter="data")


def _text(path: Path) -> str:
    return path.read_text() if path.exists() else ""


def _kept(out: Path, root: Path, tests: list[str]) -> dict[str, Any]:
    """What a pass over the unchanged code measures, room by room; taken over where code and tests are the same."""
    found: dict[str, Any] = {"lines": {}, "seconds": {}, "failed": []}
    for room in ROOMS:
        files = [test for test in tests if test.startswith(f"tests/{room}/")]
        kept = out.with_name(f"measured-{room}-{ground_of(root)}.json")
        if files and not kept.exists():
            print(f"running {len(files)} files of tests/{room} once on the unchanged code", flush=True)
            kept.write_text(json.dumps(mutation_run.baseline(root, files)))
        if files:
            found = _joined(found, json.loads(kept.read_text()), {*tests})
    return found


def _joined(before: Mapping[str, Any], fresh: Mapping[str, Any], unchanged: set[str]) -> dict[str, Any]:
    """Unchanged files of tests as measured before, the others as measured now."""
    lines = {path: {line: list(tests) for line, tests in found.items()} for path, found in fresh["lines"].items()}
    for path, found in before["lines"].items():
        for line, tests in found.items():
            same = [test for test in tests if not test or test.split("::")[0] in unchanged]
            lines.setdefault(path, {}).setdefault(line, []).extend(same)
    seconds = {test: spent for test, spent in before["seconds"].items() if test.split("::")[0] in unchanged}
    failed = [test for test in before["failed"] if test.split("::")[0] in unchanged]
    return {"lines": lines, "seconds": seconds | fresh["seconds"], "failed": failed + fresh["failed"]}


def gone_tests(old: Path, new: Path, before: Iterable[str], after: Iterable[str]) -> set[str]:
    """Tests that today's tree has not by that name, or with other words in their function."""
    today = set(after)
    functions = cache(_functions)

    def body(root: Path, test: str) -> str | None:
        file, *names = test.split("[")[0].split("::")
        return functions(root / file).get(names[-1]) if names else None

    return {test for test in before if test not in today or body(old, test) != body(new, test)}


def _functions(path: Path) -> dict[str, str]:
    nodes = ast.walk(ast.parse(_text(path)))
    return {node.name: ast.dump(node) for node in nodes if isinstance(node, ast.FunctionDef)}


def places(lines: Mapping[str, Mapping[str, list[str]]], gone: set[str]) -> list[tuple[str, int]]:
    """The lines that some gone test runs."""
    return sorted((path, int(line)) for path, found in lines.items() for line in found if gone & {*found[line]})


def _drawn(root: Path, where: list[tuple[str, int]], sample: int, seed: int) -> Iterator[Any]:
    """Up to `sample` mutants: lines drawn alike, one mutant of each that has any."""
    from benchmarks.mutants import mutants_of

    chance = random.Random(seed)
    chance.shuffle(where)
    count = 0
    for start in range(0, len(where), 100):
        some = where[start : start + 100]
        wanted: dict[str, set[int]] = {}
        for path, line in some:
            wanted.setdefault(path, set()).add(line)
        at: dict[tuple[str, int], list[Any]] = {}
        for mutant in (m for path in sorted(wanted) for m in mutants_of(root, path, wanted[path])):
            at.setdefault((mutant.path, mutant.line), []).append(mutant)
        for place in some:
            if place in at and count < sample:
                count += 1
                yield chance.choice(at[place])
        if count == sample:
            return


def _compare(today: Judge, earlier: Judge, mutants: Iterable[Any], options: argparse.Namespace) -> int:
    lost, killed, seen_by_none = [], 0, 0
    deadline = time.monotonic() + 60 * options.budget_minutes
    with options.out.open("a") as log:
        for mutant in mutants:
            if time.monotonic() > deadline:
                break
            verdict = today.verdict(mutant)
            if verdict["status"] == "killed":
                killed += 1
            else:
                verdict["before"] = earlier.verdict(mutant)
                is_lost = verdict["before"]["status"] == "killed"
                lost += [mutant.name] * is_lost
                seen_by_none += not is_lost
            print(json.dumps(verdict), file=log, flush=True)
    print(f"{killed} killed today, {seen_by_none} by neither, {len(lost)} lost", *lost, sep="\n")
    return 1 if lost else 0


if __name__ == "__main__":
    sys.exit(run(main))
