"""Mutation scores: how many small wrong changes of what decides, of theory/, dynamics/ and scripts/, the tests notice.

Usage: python -m benchmarks.mutate [--only PART] [--sample N] [--seed S] [--budget-minutes M]

The decision core is what the imports of the checker reach (`proofs_check.trust`); the harness runs hand-written
evidence. Works on a copy of the tree in a temporary folder. Results go to --out as they come, so an interrupted run
goes on where it stopped as long as neither code nor tests changed. A timeout counts as a survivor.
"""

import argparse
import hashlib
import json
import random
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import cache, partial
from pathlib import Path
from typing import Any

from benchmarks.mutation_run import PROJECT, measured_judge
from scripts.commands.cli import run

HARNESS = (
    *(f"proofs_check/ledger/{name}.py" for name in ("claim", "record", "harness", "rows", "registry")),
    *(f"proofs_check/evidence/{name}.py" for name in ("sides", "margin", "certified")),
    "proofs_check/oracles/landscape.py",
    "theory/lowering/ball.py",
    "theory/lowering/box.py",
)
GOALS = {"decision-core": 0.90, "harness": 0.90, "theory": 0.85, "dynamics": 0.85, "scripts": 0.75}


def main(argv: list[str] | None = None) -> int:
    options = _parser().parse_args(argv)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that the copy is removed then, too
    try:
        return _run(options)
    except KeyboardInterrupt:
        raise KeyboardInterrupt(f"results so far are in {options.out}") from None


def common_parser(name: str, doc: str, sample: int, minutes: float, out: str) -> argparse.ArgumentParser:
    """The options of both commands on mutants, with their defaults."""
    parser = argparse.ArgumentParser(prog=f"python -m benchmarks.{name}", description=doc.split("\n")[0])
    drawn = "mutants to draw (mutate: of each part, 0 for all; default %(default)s)"
    parser.add_argument("--sample", type=int, default=sample, help=drawn)
    parser.add_argument("--seed", type=int, default=0, help="of the drawing and of the order")
    parser.add_argument("--budget-minutes", type=float, default=minutes, help="stop there")
    parser.add_argument("--out", type=Path, default=Path(out), help="results, one line a mutant (default %(default)s)")
    return parser


def _parser() -> argparse.ArgumentParser:
    parser = common_parser("mutate", __doc__, 300, 120.0, "out/mutation.jsonl")
    parser.add_argument("--only", choices=sorted(GOALS), help="one of the parts")
    parser.add_argument("--file", action="append", default=[], help="only mutants of this file (repeatable)")
    parser.add_argument("--page", type=Path, default=Path("out/mutation.md"), help="the page of scores and survivors")
    parser.add_argument("--reasons", type=Path, default=Path("benchmarks/survivors.toml"))
    parser.add_argument("--keep-kills", action="store_true", help="take over kills of runs with older tests")
    return parser


def _run(options: argparse.Namespace) -> int:
    from benchmarks import mutation_page
    from dynamics.files.atomic import check_target

    for path in (options.out, options.page):
        check_target(path)
    options.out.parent.mkdir(parents=True, exist_ok=True)
    with copied(Path.cwd()) as root:
        populations = _populations(root, options)
        judged = _judge_all(root, populations, options)
    scores = [
        mutation_page.Score.of(part, GOALS.get(part, 0.0), [judged.get(mutant.digest) for mutant in mutants])
        for part, mutants in populations.items()
    ]
    print(*scores, sep="\n")
    mutation_page.write(options.page, scores, mutation_page.reasons(options.reasons))
    print(f"survivors: {options.page}")
    return 0 if all(score.reached for score in scores) else 1


def _judge_all(root: Path, populations: dict[str, list[Any]], options: argparse.Namespace) -> dict[str, Any]:
    """Verdicts by digest, in a shuffled order up to the end of the budget: cut short, they are a random sample."""
    chosen = list(dict.fromkeys(mutant for part in populations.values() for mutant in part))
    random.Random(options.seed).shuffle(chosen)
    ground = ground_of(root)
    known = _known(options.out, ground, options.keep_kills)
    judged: dict[str, Any] = {}
    judge = cache(partial(measured_judge, root))
    with options.out.open("a") as log:
        for mutant in in_turn(chosen, len(chosen), options.budget_minutes):
            if mutant.digest not in known:
                verdict = judge(_rooms(mutant.path, options.only)).verdict(mutant)
                known[mutant.digest] = {**verdict, "ground": ground}
                print(json.dumps(known[mutant.digest]), file=log, flush=True)
            judged[mutant.digest] = known[mutant.digest]
    older = sum(record["ground"] != ground for record in judged.values())
    if older:
        print(f"{older} kills are taken over from runs with older tests")
    return judged


def in_turn(mutants: Iterable[Any], most: int, minutes: float) -> Iterator[Any]:
    """The mutants beside a bar of progress, until the time is up."""
    from tqdm import tqdm

    tqdm.monitor_interval = 0  # a thread beside a fork is asking for trouble
    deadline = time.monotonic() + 60 * minutes
    for mutant in tqdm(mutants, total=most, unit="mutant", smoothing=0.05):
        if time.monotonic() > deadline:
            return
        yield mutant


def _rooms(path: str, only: str | None) -> tuple[str, ...]:
    """The rooms of tests that judge a file. Alone, the decision core answers to its own, which hold its promises."""
    package = path.split("/")[0]
    if package in ("dynamics", "scripts"):
        return (package,)
    return ("proofs_check/core",) if only == "decision-core" else ("theory", "proofs_check")


def _populations(root: Path, options: argparse.Namespace) -> dict[str, list[Any]]:
    """The mutants of each part, drawn with the seed."""
    from benchmarks.mutants import mutants_of

    if options.file:
        return {"files": [mutant for path in options.file for mutant in mutants_of(root, path)]}
    parts: dict[str, list[Any]] = {}
    for part, paths in files_of(root).items():
        if options.only in (None, part):
            every = [mutant for path in paths for mutant in mutants_of(root, path)]
            count = min(options.sample or len(every), len(every))
            parts[part] = random.Random(options.seed).sample(every, count)
    return parts


def files_of(root: Path) -> dict[str, list[str]]:
    """The files of each part; the decision core is found by its imports, so no file of it can be forgotten."""
    from proofs_check import trust

    decision = sorted(str(path.relative_to(trust.ROOT)) for path in trust.walk(trust.START).values())
    others = {*decision, "theory/symbols.py"}  # names, domains and LaTeX: nothing but strings
    parts = {"decision-core": decision, "harness": list(HARNESS)}
    for part in ("theory", "dynamics", "scripts"):
        parts[part] = sorted({str(path.relative_to(root)) for path in (root / part).rglob("*.py")} - others)
    return parts


@contextmanager
def copied(source: Path) -> Iterator[Path]:
    """A copy of the packages and tests, gone afterwards."""
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        root = Path(folder).resolve()
        for name in (*PROJECT, "benchmarks", "docs", "examples"):
            shutil.copytree(source / name, root / name, ignore=shutil.ignore_patterns("__pycache__"))
        for path in source.glob("*.*"):
            if path.is_file():
                shutil.copy(path, root)
        yield root


def ground_of(root: Path) -> str:
    """Digest of everything a verdict on a mutant can depend on."""
    digest = hashlib.sha256()
    for path in sorted(path for package in PROJECT for path in (root / package).rglob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def _known(out: Path, ground: str, keep_kills: bool) -> dict[str, Any]:
    records = map(json.loads, out.read_text().splitlines() if out.exists() else ())
    return {r["digest"]: r for r in records if r["ground"] == ground or (keep_kills and r["status"] == "killed")}


if __name__ == "__main__":
    sys.exit(run(main))
