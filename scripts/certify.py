"""Search for the certificates of all statements of the ledger and store them; `verify --quick` then re-checks those."""

import json
import sys

from scripts import cli


def parser() -> cli.Parser:
    p = cli.Parser(prog="certify", description=__doc__)
    p.add_argument("--id", action="append", metavar="ID", help="only these claims; the others keep what is stored")
    p.add_argument("--missing", action="store_true", help="only statements that have no entry yet")
    p.add_argument("--jobs", type=cli.whole(1, 256), default=2, metavar="N", help="worker processes (default 2)")
    return p


def main(argv: list[str] | None = None) -> int:
    args = parser().parse_args(argv)
    from tqdm import tqdm

    from dynamics.files import atomic_write_text
    from proofs_check.registry import PAPERS, load
    from proofs_check.store import FOLDER
    from proofs_check.workers import processes

    claims = {name: claim for name, claim in load(tuple(PAPERS)).items() if claim.formal is not None}
    for name in args.id or ():
        if name not in claims:
            raise ValueError(f"there is no claim {name!r} with a statement")
    for paper in sorted({claim.paper for claim in claims.values()}):
        path = FOLDER / f"{paper}.json"
        old = json.loads(path.read_text("utf-8"))["statements"] if path.exists() else {}
        mine = {name: claim.formal for name, claim in claims.items() if claim.paper == paper}
        wanted = [n for n, made in mine.items() if (args.id is None or n in args.id)
                  and not (args.missing and made.digest in old)]  # fmt: skip
        with processes(args.jobs) as pool:
            found = pool.map(_searched, wanted)
            bar = tqdm(zip(wanted, found, strict=True), total=len(wanted), desc=paper, disable=not sys.stderr.isatty())
            new = {mine[name].digest: entry for name, entry in bar}
        kept = {made.digest: old[made.digest] for made in mine.values() if made.digest in old}
        text = json.dumps({"statements": {**kept, **new}}, separators=(",", ":"), sort_keys=True)
        atomic_write_text(path, text + "\n")
        print(f"{path}: {len(kept | new)} statements, {path.stat().st_size / 1e6:.2f} MB")
    return 0


def _searched(name: str) -> dict:
    from proofs_check.registry import PAPERS, load
    from proofs_check.store import offer

    return offer(load(tuple(PAPERS), (name,))[name])


if __name__ == "__main__":
    sys.exit(cli.run(main))
