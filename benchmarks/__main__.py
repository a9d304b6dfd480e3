"""Time each fast path against a plain way of doing the same work, and check that it still gives the same numbers.

One table: baseline, ours, ratio, the least ratio accepted, distance to the arithmetic limit, accuracy guards. Seconds
are CPU seconds of one pinned thread, medians of interleaved rounds. Exit 1 if a guard fails or a floor is missed.
"""

import argparse
import json
import os
import sys

from scripts.commands.cli import Parser, output_file, run

ROWS = ("landscape", "figure", "shift", "generator", "toy_step", "ensemble", "flow", "start_up", "scope",
        "value_residual", "observer", "razor")  # fmt: skip


def parser() -> Parser:
    p = Parser(prog="benchmarks", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--row", action="append", choices=ROWS, metavar="NAME", help=f"only this one of {', '.join(ROWS)}")
    p.add_argument("--quick", action="store_true", help="small sizes, guards only: ratios are printed, not judged")
    p.add_argument("--json", metavar="FILE", help="write the rows as JSON as well")
    return p


def main(argv: list[str] | None = None) -> int:
    args = parser().parse_args(argv)
    target = output_file(args.json) if args.json else None
    _one_pinned_thread()
    from benchmarks.row import failures, table

    names = [name for name in ROWS if not args.row or name in args.row]
    rows = [_measured(name, args.quick, alone=len(names) == 1) for name in names]
    print(table(rows))
    wrong = [failure for row in rows for failure in failures(row, floors=not args.quick)]
    for failure in wrong:
        print(f"failed: {failure}")
    if target:
        _write(target, rows, wrong, args.quick)
    return 1 if wrong else 0


def _measured(name: str, quick: bool, alone: bool):
    """One row; beside others, in a process of its own, for memory that a row leaves behind would help the next one."""
    print(f"measuring {name} ...", file=sys.stderr, flush=True)
    from benchmarks.row import measured

    if alone:
        return measured(name, quick)
    from concurrent.futures import ProcessPoolExecutor
    from multiprocessing import get_context

    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        return pool.submit(measured, name, quick).result()


def _one_pinned_thread() -> None:
    """Before numpy and torch are imported; child processes inherit both settings."""
    os.environ["OMP_NUM_THREADS"] = "1"
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})


def _write(target, rows, wrong: list[str], quick: bool) -> None:
    from dynamics.files.atomic import atomic_write_bytes

    fields = {"comparisons", "limits", "guards"}
    plain = [row._asdict() | {name: [part._asdict() for part in getattr(row, name)] for name in fields} for row in rows]
    content = json.dumps({"quick": quick, "failures": wrong, "rows": plain}, indent=1)
    atomic_write_bytes(target, content.encode() + b"\n")


if __name__ == "__main__":
    raise SystemExit(run(main))
