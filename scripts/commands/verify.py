"""Run the claims and print a line for each paper; exit 0 only if all evidence supports every recorded verdict."""

import re
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path

from ..pages import docket
from . import cli

FAILED = 1


def parser() -> cli.Parser:
    p = cli.command_parser("verify", __doc__)
    p.add_argument(
        "--paper", action="append", metavar="NAME",
        help="only this paper: kv, kv1 (its first version), razor, .. or one of a package of yours (repeatable)",
    )  # fmt: skip
    p.add_argument(
        "--id", action="append", metavar="ID",
        help="only these claims, each in full; * stands for anything, and then they make a table (repeatable)",
    )  # fmt: skip
    p.add_argument("--false", action="store_true", help="only the claims that are false")
    p.add_argument("--all", action="store_true", help="after the line for each paper, also a row for each claim")
    p.add_argument("--list", action="store_true", help="list the claims with their verdicts and run nothing")
    p.add_argument(
        "--claims", metavar="FILE.py",
        help="decide the statements of your own file, and nothing else (see docs/own-claims.md)",
    )
    p.add_argument(
        "--seconds", type=cli.whole(1, 86_400), default=60, metavar="S",
        help="with --claims: time limit for the file, and for each statement (default 60)",
    )  # fmt: skip
    effort = p.add_mutually_exclusive_group()
    effort.add_argument(
        "--quick", action="store_true",
        help="shipped checkpoints, fewer points, mutants only of claims that --id names (the default)",
    )  # fmt: skip
    effort.add_argument(
        "--full", action="store_true", help="retrain, all sampled points, proofs and mutants searched anew"
    )
    p.add_argument("--json", metavar="FILE", help="write the results there, over older results but over no other file")
    p.add_argument("--markdown", action="store_true", help="print the table as Markdown")
    p.add_argument("--jobs", type=cli.whole(1, 256), default=2, metavar="N", help="worker processes (default 2)")
    return p


def main(argv: list[str] | None = None, load: Callable | None = None) -> int:
    """The command; `load` replaces the registry of the workers (for tests)."""
    args = parser().parse_args(argv)
    target = None if args.json is None else _output(args.json)
    if args.claims is not None:
        return _claims(args, target)

    from proofs_check.ledger import registry, workers

    plan = workers.Plan(
        papers=tuple(args.paper) if args.paper else None, patterns=tuple(args.id) if args.id else None,
        verdict="false" if args.false else None, full=args.full, load=load or registry.load,
    )  # fmt: skip
    try:
        return _listed(plan) if args.list else _verified(plan, args, target)
    except registry.BrokenLedger as fault:
        for line in fault.args:
            cli.complain(str(line))
        return FAILED


def _output(path: str) -> Path:
    """Where the results go. Raises ValueError for a file that holds anything but such results, which would be lost."""
    target = cli.output_file(path)
    if target.is_file():
        with target.open("rb") as file:
            head = file.read(64)
        if head and not re.match(rb'\{\s*"claims":', head):
            raise ValueError(f"cannot write {path}: it holds no verdicts, and would be lost")
    return target


def _claims(args, target) -> int:
    """The statements of a user's file: 0 if all are proved, 1 if not. Raises ValueError for a file without any."""
    from proofs_check.ledger.user_claims import decided, emitted

    statements, faults = emitted(Path(args.claims), args.seconds)
    for fault in faults:
        cli.complain(fault)
    rows = []
    for row in decided(statements, args.seconds, not args.quick):
        rows.append(row)
        print(_decision(row), flush=True)
    if target is not None:
        cli.write_json(target, {"claims": rows, "faults": faults})
    return 0 if not faults and all(row["outcome"] == "proved" for row in rows) else FAILED


def _decision(row: dict) -> str:
    """One decided statement, as read."""
    from .report import fails, place

    # Quoted, a name with blanks and colons does not read as a verdict.
    name = row["id"] if re.fullmatch(r"[\w.'-]+", row["id"]) else repr(row["id"])
    if row["outcome"] == "error":
        return cli.page([f"{name}: error: {row['message']}", f"  {row['sentence']}"])
    lines = [f"{name}: {row['outcome']} (strength {row['strength']}, covers {row['coverage']})"]
    lines += [f"  {row['sentence']}", *(f"  where {line}" for line in row["definitions"])]
    if row["outcome"] == "refuted" or row["choice_only"]:
        lines.append(f"  It {fails(row['at'])}")
    if row["outcome"] == "instances":
        lines.append("  Proved only at " + "; ".join(place(entry) for entry in row["at"]))
    if row["outcome"] in ("open", "instances"):
        lines.append("  " + ("" if row["choice_only"] else "No proof of the whole was found: ") + row["message"])
    if row["outcome"] == "proved":
        rules = ", ".join(f"{name} {count}" for name, count in _rules(row["certificate"]))
        lines.append(f"  Certificate: {rules}; its hypotheses are met at {place(row['certificate']['point'])}")
    if row["mutants"]:
        lines.append(f"  {_mutants(row['mutants'])}")
    return cli.page(lines)


def _rules(certificate: dict) -> list[tuple[str, int]]:
    """The rules that a certificate uses, most used first."""
    from proofs_check.core.rules import RULES

    counts: Counter = Counter()
    pending = [certificate["proofs"]]
    while pending:
        part = pending.pop()
        if isinstance(part, dict):
            pending += part.values()
        elif isinstance(part, list):
            if part and isinstance(part[0], str) and part[0] in RULES:
                counts[part[0]] += 1
            pending += part
    return counts.most_common()


def _listed(plan) -> int:
    from proofs_check.ledger.workers import records_of

    rows = records_of(plan)
    print(_columns([(row.id, _verdict(row), row.statement) for row in rows]))
    return 0


def _verified(plan, args, target) -> int:
    from proofs_check.ledger.claim import Effort
    from proofs_check.ledger.rows import document
    from proofs_check.ledger.workers import run

    short = not (args.markdown or args.id or args.false)
    rows = run(plan, args.jobs, partial(_started, args, plan, short))
    report = document(rows, Effort.FULL if plan.full else Effort.QUICK)
    summary = report["summary"]
    if target is not None:
        cli.write_json(target, report)
    if short:
        print(overview(rows) + "\n" * args.all)
        cli.hint(args, f"`{cli.program('verify')} --all` adds a row for each claim, --id ID shows one in full.")
    if args.all or not short:
        shown = markdown if args.markdown else details if plan.by_name else table
        print(shown(rows, summary))
    return 0 if summary["supported"] else FAILED


def _started(args, plan, told: bool, rows: list):
    """The progress bar of a run. Before it stands what is run and about how long that takes, if this is to be told."""
    if told:
        papers = ", ".join(dict.fromkeys(map(docket.paper, rows)))
        longer = "; --full takes many times as long" * plan.full
        time = f"With --quick all papers take 1 to 2 minutes on 2 cores{longer}."
        cli.hint(args, f"Claims to check: {len(rows)} ({papers}). {time}")
    checks = len(rows) + sum(row.formal is not None for row in rows)
    return cli.bar(args, total=checks, unit="check", leave=False)


def _verdict(claim) -> str:
    return claim.verdict + (f" ({claim.severity})" if claim.severity else "")


def _cells(rows) -> list[tuple[str, ...]]:
    found = []
    for claim in rows:
        kinds = ", ".join(e.kind for e in claim.evidence)
        margins = [e.margin for e in claim.evidence if e.margin is not None]
        margin = f"{min(margins):.3g}" if margins else "-"
        kinds = ", ".join(filter(None, ["core" if claim.core else "", kinds]))
        found.append((claim.id, _verdict(claim), claim.status, claim.strength or "-", kinds, margin))
    return found


HEADER = ("claim", "verdict", "status", "strength", "evidence", "margin")


def _summary_lines(rows, summary: dict) -> list[str]:
    counts = ", ".join(f"{number} {name}" for name, number in summary["status"].items() if number)
    lines = [f"{summary['claims']} claims: {counts} ({summary['effort']}; {summary['seconds']:.1f} s of evidence)"]
    how = "searched anew, mutants run" if summary["effort"].startswith("full") else "stored certificates, checked again"
    if summary["decided_by_the_core"]:
        lines.append(f"{summary['decided_by_the_core']} of them as data, for the core ({how}); --id prints each")
    for claim in rows:
        if claim.message:
            lines += [_failure(claim), *_sides(claim), *_said(claim)]
    return lines


def _failure(claim) -> str:
    return f"{claim.status}: {claim.id}: {claim.message}"


def _sides(claim) -> list[str]:
    """Where printed and true part: the witness, or the point of a contradiction."""
    from .report import show

    if claim.witness is None:
        return []
    point, printed, true = (show(claim.witness[name]) for name in ("point", "printed", "true"))
    where = "Contradicted" if claim.status == "contradicted" else "Witness"
    return [f"  {where} at {point or 'the statement itself'}: printed {printed}, true {true}"]


def details(rows, summary: dict) -> str:
    """Each claim in full: statement, reading, what is true instead, witness with both sides, evidence."""
    from .report import note_title

    lines = []
    for claim in rows:
        lines += [f"{claim.id}: {_verdict(claim)}, {claim.status}", f"  {claim.source}"]
        parts = [("Statement", claim.statement), ("Read as", claim.reading)]
        parts += [("If", "; ".join(claim.conditions)), (note_title(claim), claim.note), ("In prose", claim.why)]
        lines += [f"  {name}: {text}" for name, text in parts if text] + _sides(claim)
        if claim.holds_instead:
            lines.append(": ".join(filter(None, ["  Holds instead", claim.correction, claim.holds_instead])))
        if claim.defect:
            lines.append(f"  It repeats the defect of {claim.defect}.")
        if claim.outcome_of:
            lines.append(f"  An outcome beside {claim.outcome_of}, which it does not settle.")
        lines += _core(claim)
        lines.append(f"  Covers: {claim.coverage or '-'}" + (f": {claim.coverage_why}" if claim.coverage_why else ""))
        lines += [_evidence(e) for e in claim.evidence] + [""]
    return cli.page([*lines, *_summary_lines(rows, summary)])


def _core(claim) -> list[str]:
    """What the core makes of the claim's statement as data, if it has one."""
    found = claim.core
    if found is None:
        return []
    from .report import failing

    why = f"; {found['message']}" if found["message"] else ""
    lines = [*_said(claim), f"  The core: {found['outcome']}{why}"]
    if found["outcome"] == "refuted":
        lines.append(f"    {failing(claim)} ({found['at']['part']})")
    if claim.mutants:
        lines.append(f"    {_mutants(claim.mutants)}")
    return lines


def _said(claim) -> list[str]:
    """What the core decides in its own words, a definition a line."""
    from proofs_check.ledger.rows import beside

    words = beside(claim)
    return f"  {words}".replace("; where ", "\n    where ").splitlines() if words else []


def _mutants(made: dict) -> str:
    left = f"; not told apart: {', '.join(made['left'])}" if made["left"] else ""
    counts = f"{made['made']} made, {made['refuted']} refuted, {made['true']} true (weaker), {made['open']} open"
    return f"Mutants: {counts}{left}"


def _evidence(evidence) -> str:
    if evidence.margin is None:
        return f"  Evidence, {evidence.kind}: {evidence.scope}"
    counts = f"{evidence.points} points, margin {evidence.margin:.3g}, rejects {evidence.controls_rejected}"
    return f"  Evidence, {evidence.kind}: {evidence.scope} ({counts} wrong variants{_tolerance(evidence)})"


def _tolerance(evidence) -> str:
    """The tolerance of a comparison beside the largest error that it had to cover."""
    if evidence.tolerance is None:
        return ""
    error = f"largest error {evidence.error:.2g}" if evidence.error else "no error"
    return f"; tolerance {evidence.tolerance:.2g}, {error}"


OVERVIEW = ("paper", "claims", "decided", "unsettled", "open", "failed", "defects", "proved")


def overview(rows: list) -> str:
    """A line for each paper, and the first claim that fails or stays open, in 120 columns."""
    papers: dict = {}
    for claim in rows:
        papers.setdefault(docket.paper(claim), []).append(claim)
    shares = [_share(name, some) for name, some in [*papers.items(), ("all", rows)]]
    lines = [cli.page(cli.aligned([OVERVIEW, *shares])), ""]
    left = [claim for claim in rows if claim.status not in ("confirmed", "not_checked")]
    lines.append(f"Claims that fail or stay open: {len(left)}." + " The first one:" * bool(left))
    for claim in left[:1]:
        lines += [cli.wrapped(line, 2) for line in (_failure(claim), *_sides(claim), *_said(claim)[:1])]
    return "\n".join(lines)


def _share(name: str, rows: list) -> tuple[str, ...]:
    """What there is of each column of the overview."""
    status = Counter(row.status for row in rows)
    counts = (
        len(rows), status["confirmed"], status["not_checked"], status["undecided"],
        status["contradicted"] + status["error"], len(docket.defects(docket.wrong(rows))),
        sum(row.strength == "proved" for row in rows),
    )  # fmt: skip
    return name, *map(str, counts)


def table(rows, summary: dict) -> str:
    return "\n".join([_columns([HEADER, *_cells(rows)]), "", cli.page(_summary_lines(rows, summary))])


def _columns(rows: list[tuple[str, ...]]) -> str:
    return cli.page(line.rstrip() for line in cli.aligned(rows, str.ljust))


def markdown(rows, summary: dict) -> str:
    lines = [HEADER, ("---",) * len(HEADER), *_cells(rows)]
    return cli.page(["| " + " | ".join(line) + " |" for line in lines] + ["", *_summary_lines(rows, summary)])
