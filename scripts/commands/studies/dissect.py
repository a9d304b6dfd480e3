"""Train the arena's central models again, to the same bytes, and measure what their heads do during the training.

It measures scores of heads, coefficients, sinks and states at some ten moments. At the end a token is made a waiver,
also in vanilla models of four positional schemes, and the models predict bytes from contexts of every length. If it is
interrupted, the same command goes on where it stopped. --table shows what is shipped; `make docs` writes the results as
out/site/dissected.html.
"""

from typing import TYPE_CHECKING

from ..cli import Parser, command_parser, hashed_file, output_folder, resumable, whole

if TYPE_CHECKING:
    from dynamics.arena.dissected import Dissection


def parser() -> Parser:
    """Return the command line; nothing heavy is imported for it."""
    line = command_parser("study dissect", __doc__)
    line.add_argument("--quick", action="store_true", help="tiny models, seconds")
    line.add_argument("--out", metavar="FOLDER", help="plan, results, what was seen (default: out/dissect)")
    line.add_argument("--table", action="store_true", help="train nothing: the table of --out, or of what is shipped")
    line.add_argument("--bundle", metavar="FILE", help="write all of it as one file, its hash beside it")
    line.add_argument("--jobs", type=whole(1), help="processes (default: one a core)")
    return line


def main(argv: list[str] | None = None) -> int:
    """Run the command line; return its exit code."""
    options = parser().parse_args(argv)
    if options.quick and options.table and options.out is None:
        raise ValueError("--quick trains: with --table name its folder (--out)")
    bundle = options.bundle and hashed_file(options.bundle)
    found = _stored(options.out) if options.table else _trained(options)
    print("\n".join(table(found)))
    if bundle:
        from dynamics.arena.dissected import write_dissection

        write_dissection(bundle, found)
        print(bundle)
    return 0


def _stored(folder: str | None) -> "Dissection":
    if folder is None:
        from dynamics.arena.dissected import read_dissection

        return read_dissection()
    from dynamics.arena.dissect import read_folder

    return read_folder(folder)


def _trained(options) -> "Dissection":
    out = output_folder(options.out or ("out/dissect-quick" if options.quick else "out/dissect"))
    from dynamics.arena.dissect import dissection, quick, run_dissection
    from dynamics.tasks.corpus import standard_library

    plan = (quick if options.quick else dissection)(standard_library().sha256)
    with resumable():
        return run_dissection(plan, out, n_jobs=options.jobs or -1, progress=not options.quiet)


HEAD = ("entry", "loss", "previous", "induction", "echo", "first", "entropy", "mask: loss", "from 1", "from all")


def table(found: "Dissection") -> list[str]:
    """A line an entry: means over seeds at the end; heads by their largest score, sinks by their mean."""
    import numpy as np

    from dynamics.arena.dissected import scores

    lines = [found.plan.title, "{:<20} {:>6} {:>9} {:>10} {:>6} {:>6} {:>8} {:>11} {:>7} {:>9}".format(*HEAD)]
    for entry, seen in found.seen.items():
        largest = [scores(found, entry, name)[:, -1].max((1, 2)).mean() for name in ("previous", "induction", "echo")]
        means = [scores(found, entry, name)[:, -1].mean() for name in ("sink", "entropy")]
        loss = np.mean([one[-1] for one in found.curves[entry].loss])
        masked = np.mean([one.mask.later_after / one.mask.later_before - 1 for one in seen])
        ends = np.array([one.contexts for one in seen], dtype=float).mean(0)
        numbers = "{:>9.3f} {:>10.3f} {:>6.3f} {:>6.3f} {:>8.3f}".format(*largest, *means)
        lines.append(f"{entry:<20} {loss:>6.3f} {numbers} {100 * masked:>+9.2f} % {ends[0]:>7.3f} {ends[-1]:>9.3f}")
    return [*lines, *_same(found)]


def _same(found: "Dissection") -> list[str]:
    """Whether the runs that the shipped league has too ended as they did there."""
    from dynamics.arena.bundle import shipped_arena, shipped_names
    from dynamics.arena.dissected import strays

    if "league" not in shipped_names():
        return []
    league = shipped_arena("league")
    shared = [name for name, one in found.plan.entries.items() if league.plan.entries.get(name) == one]
    runs, wrong = len(shared) * found.plan.seeds, strays(found, league)
    if not runs:
        return ["no run of the shipped league is among these"]
    return [f"{runs - len(wrong)} of {runs} runs of the shipped league have its losses to the last digit", *wrong]
