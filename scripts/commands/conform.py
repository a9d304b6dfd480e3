"""Test whether an attention implementation does what it claims: ALiBi, shifts, rotations, sinks, caches that forget.

MODULE is a file (..py) or an importable module with a function for each subject that it claims; --list shows subjects
and checks, docs/conform.md how to write one. It is imported, so run only what you trust. What is not claimed, refused
by NotImplementedError, or did not run is never a pass.
"""

import secrets
from collections import Counter
from typing import TYPE_CHECKING

from .cli import Parser, command_parser, output_file, whole, write_json

if TYPE_CHECKING:
    from proofs_check.conform import Adapter, Result


def parser() -> Parser:
    p = command_parser("conform", __doc__)
    p.add_argument("module", metavar="MODULE", nargs="*", help="a file (..py), or a module")
    p.add_argument("--only", action="append", metavar="NAME", help="a subject or a check of --list; may be repeated")
    p.add_argument("--seed", type=whole(0, 2**32 - 1), metavar="N", help="of the inputs (default: drawn, and printed)")
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

    good, records, seed = True, [], secrets.randbits(32) if args.seed is None else args.seed
    for adapter, of in [(adapter, package(adapter)) for adapter in map(load, args.module)]:
        results = conform(adapter, frozenset(args.only or ()), seed)
        good &= any(r.outcome is Outcome.PASSED for r in results) and not any(r.deviates for r in results)
        records.append(record(adapter, results, seed) | {"package": of})
        print(text(adapter, results, seed), flush=True)
    if target is not None:
        write_json(target, {"adapters": records})
        print(f"wrote {target}")
    return 0 if good else 1


def package(adapter: "Adapter") -> str:
    """What an adapter's PACKAGE names, with its version. Raises: ValueError where that is not installed."""
    from importlib.metadata import version

    name = str(getattr(adapter.module, "PACKAGE", ""))
    try:
        return name and f"{name} {version(name)}"
    except ImportError:
        raise ValueError(f"{adapter.name}: PACKAGE must name what is installed, got {name!r}") from None


def listed() -> str:
    """Subjects, and under each its checks."""
    from proofs_check.conform import CHECKS, SUBJECTS

    lines = []
    for name, subject in SUBJECTS.items():
        lines += [f"{name}{subject.call} -> {subject.returns}", f"  {subject.says}"]
        for check in CHECKS:
            if check.subject == name:
                needs = [f"[{need}]" for need in check.needs] + ([f"[{check.backend}]"] if check.backend else [])
                lines.append(f"    {check.name:40}{' '.join([*needs, check.says])}")
    return "\n".join(lines)


def text(adapter: "Adapter", results: list["Result"], seed: int) -> str:
    """A line a check that ran or was refused, a line for the rest, and the sum."""
    from proofs_check.conform import Outcome

    lines = [f"{adapter.name}: {adapter.backend}, {adapter.dtype}, seed {seed}"]
    for result in results:
        if result.outcome is not Outcome.NOT_CLAIMED:
            word = result.outcome.value.upper() if result.deviates else result.outcome.value
            lines.append(f"  {word:11}{result.check.name:40}{result.told or result.check.says}")
    for subject in dict.fromkeys(result.check.subject for result in results):
        sizes: Counter[str] = Counter()
        for result in results:
            sizes |= Counter(result.largest if result.check.subject == subject else {})  # the larger of two
        if sizes:
            told = ", ".join(f"{n} {name}" for name, n in sizes.items())
            lines.append(f"  {subject}: up to {told}; nothing larger was run")
    silent = Counter(r.check.subject for r in results if r.outcome is Outcome.NOT_CLAIMED)
    if silent:
        lines.append("  not claimed: " + ", ".join(f"{name} ({count})" for name, count in silent.items()))
    count = Counter(result.outcome for result in results)
    return "\n".join([*lines, ", ".join(f"{count[outcome]} {outcome.value}" for outcome in Outcome)])


def record(adapter: "Adapter", results: list["Result"], seed: int) -> dict[str, object]:
    """An adapter and the results of the checks that it claims, for JSON."""
    rows = [r._asdict() | {"check": r.check.name, "outcome": r.outcome.value} for r in results]
    claimed = [row for row in rows if row["outcome"] != "not claimed"]
    told = {"adapter": adapter.name, "backend": adapter.backend, "dtype": adapter.dtype, "seed": seed}
    return told | {"results": claimed}
