"""Test whether an attention implementation does what it claims: ALiBi, shifts, rotations, sinks, caches that forget.

MODULE is a file (..py) or an importable module with a function for each subject that it claims; --list shows subjects
and checks, docs/conform.md how to write one. It is imported, so run only what you trust. What is not claimed, refused
by NotImplementedError, or did not run is never a pass.
"""

import secrets
from collections import Counter, defaultdict
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from .cli import Parser, command_parser, output_file, whole, write_json

if TYPE_CHECKING:
    from proofs_check.conform import Adapter, Result


def parser() -> Parser:
    p = command_parser("conform", __doc__)
    p.add_argument("module", metavar="MODULE", nargs="*", help="a file (..py), or a module")
    p.add_argument("--only", action="append", metavar="NAME", help="a subject or a check of --list; may be repeated")
    drawn, told = secrets.randbits(32), "of the inputs (default: drawn, and printed)"
    p.add_argument("--seed", type=whole(0, 2**32 - 1), default=drawn, metavar="N", help=told)
    told = "for each subject (default 20); a check that they cut short is no pass"
    p.add_argument("--seconds", type=whole(1), default=20, metavar="N", help=told)
    p.add_argument("--json", metavar="FILE", help="write all results there")
    p.add_argument("--list", action="store_true", help="print subjects and checks, and stop")
    return p


def main(argv: list[str] | None = None) -> int:
    args = parser().parse_args(argv)
    if args.list:
        print(listed())
        return 0
    if not args.module:
        raise ValueError("give a MODULE with an adapter (or --list, --help)")
    target = output_file(args.json) if args.json else None
    from proofs_check.conform import Outcome, conform, load

    good, told = True, []
    for adapter, head in [(adapter, described(adapter) | {"seed": args.seed}) for adapter in map(load, args.module)]:
        results = conform(adapter, frozenset(args.only or ()), args.seed, args.seconds)
        good &= any(r.outcome is Outcome.PASSED for r in results)
        good &= not any(r.deviates or r.outcome is Outcome.CUT for r in results)
        ran = [r for r in results if r.outcome is not Outcome.NOT_CLAIMED]
        rows = [r._asdict() | {"check": r.check.name, "outcome": r.outcome.value} for r in ran]
        told.append(head | {"results": rows})
        print(text(head, results), flush=True)
    if target is not None:
        write_json(target, {"adapters": told})
        print(f"wrote {target}")
    return 0 if good else 1


def described(adapter: "Adapter") -> dict[str, Any]:
    """What an adapter is of. Raises: ValueError where the package that its PACKAGE names is not installed."""
    from importlib.metadata import version

    name = str(getattr(adapter.module, "PACKAGE", ""))
    try:
        package = name and f"{name} {version(name)}"
    except ImportError:
        raise ValueError(f"{adapter.name}: PACKAGE must name what is installed, got {name!r}") from None
    return {"adapter": adapter.name, "package": package, "backend": adapter.backend, "dtype": adapter.dtype}


def listed() -> str:
    """Subjects, and under each its checks."""
    from textwrap import fill

    from proofs_check.conform import CHECKS, SUBJECTS

    lines = []
    for name, subject in SUBJECTS.items():
        lines += [f"{name}{subject.call} -> {subject.returns}", f"  {subject.says}"]
        for check in CHECKS:
            if check.subject == name:
                needs = "".join(f"[{need}] " for need in (*check.needs, check.backend) if need)
                lines.append(f"    {check.name:36}{needs}{check.says}")
    return "\n".join(fill(line, 112, subsequent_indent=" " * 40, break_on_hyphens=False) for line in lines)


def text(head: Mapping[str, Any], results: list["Result"]) -> str:
    """A line a check that ran or was refused, a line for the rest, and the sum."""
    from proofs_check.conform import Outcome

    lines = ["{adapter}: {backend}, {dtype}, seed {seed}".format(**head)]
    sizes = defaultdict(Counter)
    for result in results:
        word = result.outcome.value.upper() if result.deviates else result.outcome.value
        beside = f"; cases as expected: {result.cases}" if result.outcome is Outcome.REFUSED else ""
        if result.outcome is not Outcome.NOT_CLAIMED:
            lines.append(f"  {word:11}{result.check.name:40}{result.told or result.check.says}{beside}")
        sizes[result.check.subject] |= Counter(result.largest)  # the larger of two
    for subject, of in sizes.items():
        lines += [f"  {subject}: passed up to {_numbers(of)}, not all at once; nothing larger"] * bool(of)
    if silent := Counter(r.check.subject for r in results if r.outcome is Outcome.NOT_CLAIMED):
        lines.append(f"  checks not claimed: {_numbers(silent)}")
    return "\n".join([*lines, _numbers({o.value: sum(r.outcome is o for r in results) for o in Outcome})])


def _numbers(of):
    return ", ".join(f"{n} {name}" for name, n in of.items())
