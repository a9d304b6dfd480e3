"""Search for the certificates of all statements of the ledger and store them; `verify --quick` then re-checks those."""

import sys
from concurrent.futures import as_completed
from pathlib import Path

from scripts import cli


def parser() -> cli.Parser:
    p = cli.Parser(prog="certify", description=__doc__)
    p.add_argument("--id", action="append", metavar="ID", help="only these claims; the others keep what is stored")
    p.add_argument("--missing", action="store_true", help="only statements that have no entry yet")
    p.add_argument("--proofs-only", action="store_true", help="no mutants: quicker by far, and a later run adds them")
    p.add_argument(
        "--keep",
        action="store_true",
        help="keep what is stored and still holds; search for the rest",
    )
    p.add_argument("--jobs", type=cli.whole(1, 256), default=2, metavar="N", help="worker processes (default 2)")
    return p


def main(argv: list[str] | None = None) -> int:
    args = parser().parse_args(argv)
    from tqdm import tqdm

    from proofs_check.registry import PAPERS, load
    from proofs_check.store import FOLDER
    from proofs_check.workers import processes

    claims = {name: claim for name, claim in load(tuple(PAPERS)).items() if claim.formal is not None}
    for name in args.id or ():
        if name not in claims:
            raise ValueError(f"there is no claim {name!r} with a statement")
    papers = sorted({claim.paper for claim in claims.values()})
    files = {paper: _File(FOLDER / f"{paper}.json", claims.values(), paper) for paper in papers}
    wanted = [n for n in args.id or claims
              if not (args.missing and claims[n].formal.digest in files[claims[n].paper].entries)]  # fmt: skip
    with processes(args.jobs) as pool:
        running = {pool.submit(_searched, name, not args.proofs_only, args.keep): claims[name] for name in wanted}
        bar = tqdm(as_completed(running), total=len(running), disable=not sys.stderr.isatty())
        for done in bar:
            # Written one by one: an interrupted search keeps what it has, and --missing goes on.
            files[running[done].paper].put(running[done].formal.digest, done.result())
    for file in files.values():
        file.put(None, None)
        print(f"{file.path}: {len(file.entries)} statements, {file.path.stat().st_size / 1e6:.2f} MB")
    return 0


class _File:
    """The entries of one paper's statements; those of statements that are no more are dropped."""

    def __init__(self, path: Path, claims, paper: str) -> None:
        from proofs_check.store import entries

        self.path = path
        old = entries(path) if path.exists() else {}
        mine = [claim.formal.digest for claim in claims if claim.paper == paper]
        self.entries = {digest: old[digest] for digest in mine if digest in old}

    def put(self, digest: str | None, entry: dict | None) -> None:
        from dynamics.files import atomic_write_text
        from proofs_check.store import written

        if digest is not None:
            self.entries[digest] = entry
        atomic_write_text(self.path, written(self.entries))


def _searched(name: str, mutants: bool, keep: bool) -> dict:
    from proofs_check.registry import PAPERS, load
    from proofs_check.store import offer

    return offer(load(tuple(PAPERS), (name,))[name], mutants, keep)


if __name__ == "__main__":
    sys.exit(cli.run(main))
