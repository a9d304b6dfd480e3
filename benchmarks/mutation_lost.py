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
from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any

from benchmarks import mutation_run
from benchmarks.mutate import common_parser, copied, ground_of, in_turn
from benchmarks.mutation_run import Judge, test_files
from dynamics.files.atomic import atomic_write_text, check_target
from scripts.commands.cli import run


def main(argv: list[str] | None = None) -> int:
    parser = common_parser("mutation_lost", __doc__, 600, 240.0, "out/mutation-lost.jsonl")
    parser.add_argument("commit", help="whose tests are compared with today's")
    options = parser.parse_args(argv)
    if options.sample < 1:
        raise ValueError(f"--sample must be at least 1, got {options.sample}")
    packed = _tests_of(options.commit)
    check_target(options.out)
    options.out.parent.mkdir(parents=True, exist_ok=True)
    mutation_run.preload()
    with copied(Path.cwd()) as new, copied(Path.cwd()) as old:
        _put(old, packed)
        today, earlier = (test_files(root, mutation_run.PACKAGES) for root in (new, old))
        names = mutation_run.collected(old, earlier)
        gone = gone_tests(old, new, names, mutation_run.collected(new, today))
        print(f"{len(gone)} of {len(names)} tests are gone or changed", flush=True)
        after, before = _kept(options.out, new, today), _kept(options.out, old, earlier, gone)
        mutants = _drawn(new, places(before["lines"], gone), options.sample, options.seed)
        return _compare(Judge(new, after), Judge(old, before, gone), mutants, options)


def _tests_of(commit: str) -> bytes:
    done = subprocess.run(["git", "archive", commit, "tests"], capture_output=True)
    if done.returncode:
        raise ValueError(f"git has no tests of {commit!r}: {done.stderr.decode().strip()}")
    return done.stdout


def _put(root: Path, packed: bytes) -> None:
    shutil.rmtree(root / "tests")
    with tarfile.open(fileobj=io.BytesIO(packed)) as files:
        files.extractall(root, filter="data")


def _kept(out: Path, root: Path, tests: list[str], only: Collection[str] | None = None) -> dict[str, Any]:
    """What a pass over the unchanged code measures, folder by folder; taken over where code and tests are the same."""
    found: dict[str, Any] = {"seconds": {}, "failed": [], "lines": {}}
    ground = ground_of(root)
    for folder in sorted({str(Path(test).parent) for test in tests}):
        files = [test for test in tests if str(Path(test).parent) == folder]
        chosen = None if only is None else {test for test in only if test.split("::")[0] in files}
        kept = out.with_name(f"{folder.replace('/', '-')}-{ground}-{'all' if only is None else 'gone'}.json")
        if chosen == set():
            continue
        if not kept.exists():
            print(f"running {folder} once on the unchanged code", flush=True)
            atomic_write_text(kept, json.dumps(mutation_run.baseline(root, files, chosen)))
        _add(found, json.loads(kept.read_text()))
    return found


def _add(found: dict[str, Any], more: Mapping[str, Any]) -> None:
    found["seconds"] |= more["seconds"]
    found["failed"] += more["failed"]
    for path, lines in more["lines"].items():
        for line, tests in lines.items():
            found["lines"].setdefault(path, {}).setdefault(line, []).extend(tests)


def gone_tests(old: Path, new: Path, before: Iterable[str], after: Iterable[str]) -> set[str]:
    """Tests that today's tree has not by that name, or with other words in their function."""
    today = set(after)

    @cache
    def functions(path: Path) -> dict[str, str]:
        nodes = ast.walk(ast.parse(path.read_text() if path.exists() else ""))
        return {node.name: ast.dump(node) for node in nodes if isinstance(node, ast.FunctionDef)}

    def body(root: Path, test: str) -> str | None:
        file, *names = test.split("[")[0].split("::")
        return functions(root / file).get(names[-1]) if names else None

    return {test for test in before if test not in today or body(old, test) != body(new, test)}


def places(lines: Mapping[str, Mapping[str, list[str]]], gone: set[str]) -> list[tuple[str, int]]:
    """The lines of Python that some gone test runs: a template's lines count as run, too."""
    python = {path: found for path, found in lines.items() if path.endswith(".py")}
    return sorted((path, int(line)) for path, found in python.items() for line in found if gone & {*found[line]})


def _drawn(root: Path, where: list[tuple[str, int]], sample: int, seed: int) -> Iterator[Any]:
    """Up to `sample` mutants: lines drawn alike, one mutant of each that has any."""
    from benchmarks.mutants import mutants_of

    chance = random.Random(seed)
    chance.shuffle(where)
    of_lines = (mutants_of(root, path, {line}) for path, line in where)
    return islice((chance.choice(some) for some in of_lines if some), sample)


def _compare(today: Judge, earlier: Judge, mutants: Iterable[Any], options: argparse.Namespace) -> int:
    lost, killed, seen_by_none = [], 0, 0
    with options.out.open("a") as log:
        for mutant in in_turn(mutants, options.sample, options.budget_minutes):
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
