"""Search for the certificates of all statements of the ledger and store them; `verify --quick` then re-checks those."""

from concurrent.futures import FIRST_COMPLETED, wait
from pathlib import Path

from . import cli


def parser() -> cli.Parser:
    p = cli.command_parser("certify", __doc__)
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
    from proofs_check.core.finite import evaluated
    from proofs_check.ledger.registry import installed, load, statements
    from proofs_check.ledger.store import to_try, with_mutant
    from proofs_check.ledger.workers import processes

    papers = tuple(dict.fromkeys(map(_paper, args.id))) if args.id else None
    # What is about finitely many points is evaluated where it is asked for, and needs no certificate.
    every = {name: one for name, one in statements(load(papers).values()).items() if evaluated(one) is None}
    for name in args.id or ():
        if not any(name == _claim_of(one) for one in every):
            raise ValueError(f"there is no claim {name!r} with a statement that needs a certificate")
    wanted = [name for name in every if not args.id or _claim_of(name) in args.id]
    papers = sorted({_paper(name) for name in wanted})
    files = {paper: _File(installed()[paper].certificates, every.values(), paper) for paper in papers}
    if args.missing:
        wanted = [name for name in wanted if every[name].digest not in files[_paper(name)].entries]
    kept = {n: files[_paper(n)].entries.get(every[n].digest) if args.keep else None for n in wanted}
    with processes(args.jobs) as pool, cli.bar(args, total=len(wanted)) as bar:
        running = {pool.submit(_proof, name, kept[name]): (name, None) for name in wanted}
        while running:
            done = wait(running, return_when=FIRST_COMPLETED).done
            for name, mutant, found in [(*running.pop(job), job.result()) for job in done]:
                # Written one by one, each mutant over its old row: an interrupted search loses nothing, --keep goes on.
                file, one = files[_paper(name)], every[name]
                if mutant is None:
                    before = file.entries.get(one.digest, {}).get("mutants", [])
                    to_do = to_try(one, {**found, "mutants": before if args.keep else []})
                    rest = [] if args.proofs_only else to_do
                    file.put(one, {**found, "mutants": before} if rest else found)
                    running |= {pool.submit(_mutant, name, digest, old): (name, digest) for digest, old in rest}
                    bar.total += len(rest)
                else:
                    file.put(one, with_mutant(one, file.entries[one.digest], mutant, found))
                bar.update()
    for file in files.values():
        file.write()
        print(f"{file.path}: {len(file.entries)} statements, {file.path.stat().st_size / 1e6:.2f} MB")
    if any(installed()[paper].host for paper in papers):
        listed = f"`{cli.program('docs')} --shipped` lists them as what ships"
        cli.hint(args, f"{listed}, without which `verify` refuses them")
    return 0


def _paper(name: str) -> str:
    return name.split(".")[0]


def _claim_of(name: str) -> str:
    """The claim that a statement belongs to: it may be what is meant there, or what denies it."""
    return name.removesuffix(".meant").removesuffix(".denied")


class _File:
    """The entries of one paper's statements; those of statements that are no more are dropped."""

    def __init__(self, path: Path, statements, paper: str) -> None:
        from proofs_check.ledger.store import entries

        self.path = path
        old = entries(path) if path.exists() else {}
        mine = [one.digest for one in statements if _paper(one.name) == paper]
        self.entries = {digest: old[digest] for digest in mine if digest in old}

    def put(self, statement, entry: dict) -> None:
        self.entries[statement.digest] = entry
        self.write()

    def write(self) -> None:
        from dynamics.files.atomic import atomic_write_text
        from proofs_check.ledger.store import written

        atomic_write_text(self.path, written(self.entries))


def _statement(name: str):
    from proofs_check.ledger.registry import load, statements

    return statements(load(patterns=(_claim_of(name),)).values())[name]


def _proof(name: str, kept: dict | None) -> dict:
    from proofs_check.ledger.store import proof

    return proof(_statement(name), kept)


def _mutant(name: str, digest: str, kept: dict | None) -> dict | None:
    from proofs_check.ledger.store import tried

    return tried(_statement(name), digest, kept)
