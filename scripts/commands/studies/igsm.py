"""Train vanilla and KV shifting attention on iGSM-like problems, by a plan fixed beforehand, and say which solves more.

The held-out problems have as many operations as the training problems, or more, as in Table 4 of the KV-shifting paper.
If it is interrupted, the same command goes on where it stopped, to the same bytes. --table shows what is shipped.
"""

from ..cli import Parser, command_parser, hashed_file, output_file, output_folder, resumable, whole, write_json


def parser() -> Parser:
    """Return the command line; nothing heavy is imported for it."""
    line = command_parser("study igsm", __doc__)
    line.add_argument("--quick", action="store_true", help="a tiny plan, two minutes, which says nothing of the models")
    line.add_argument("--out", metavar="FOLDER", help="plan, results and states (default: out/igsm or out/igsm-quick)")
    line.add_argument("--table", action="store_true", help="train nothing: the table of --out, or of what is shipped")
    line.add_argument("--json", metavar="FILE", help="write the table as JSON too")
    line.add_argument("--bundle", metavar="FILE", help="write plan and counts as one file, its hash beside it")
    line.add_argument("--jobs", type=whole(1), help="processes (default: one a core)")
    return line


def main(argv: list[str] | None = None) -> int:
    """Run the command line; return its exit code."""
    options = parser().parse_args(argv)
    if options.quick and options.table and options.out is None:
        raise ValueError("no quick plan ships: --table --quick needs --out")
    files = options.json and output_file(options.json), options.bundle and hashed_file(options.bundle)
    bundle = _stored(options.out) if options.table else _trained(options)
    print("\n".join(table(bundle)))
    if files[0]:
        from dynamics.arena.solved import as_records

        record = {"plan_sha256": bundle.plan.sha256, "accuracies": as_records(bundle)}
        write_json(files[0], record)
        print(files[0])
    if files[1]:
        from dynamics.arena.solved import write_bundle

        write_bundle(files[1], bundle)
        print(files[1])
    return 0


def _stored(folder: str | None):
    from dynamics.arena.solved import IGSM, bundle_of, read_bundle, read_plan

    if folder is None:
        return read_bundle(IGSM)
    from dynamics.arena.engine import read_place
    from dynamics.arena.solving import results

    plan = read_plan(folder)
    return bundle_of(plan, results(folder, plan), read_place(folder))


def _trained(options):
    name = "quick" if options.quick else "igsm"
    out = output_folder(options.out or ("out/igsm-quick" if options.quick else "out/igsm"))
    from dynamics.arena.engine import Place
    from dynamics.arena.igsm import PRESETS
    from dynamics.arena.solved import bundle_of
    from dynamics.arena.solving import run_plan

    plan = PRESETS[name]()
    with resumable():
        found = run_plan(plan, out, n_jobs=options.jobs or -1, progress=not options.quiet)
    return bundle_of(plan, found, Place())


def table(bundle) -> list[str]:
    """A line an accuracy, and what holds for all of them."""
    from dynamics.arena.solved import lines, outcome

    plan, found = bundle.plan, lines(bundle)
    wide = max(map(len, plan.rules))
    head = f"{'share of problems':<{wide}} {'seeds':>5} {plan.baseline:>9} {plan.variant:>9} {'difference':>10}"
    rows = [
        f"{line.name:<{wide}} {line.seeds:>5} {line.baseline:>9.3f} {line.variant:>9.3f} {line.difference:>+10.3f} "
        f"{f'{line.low:+.3f} to {line.high:+.3f}':>18}  {outcome(plan, line)}"
        for line in found
    ]
    return [plan.title, f"{head} {'interval':>18}  outcome", *rows, *assumptions(bundle)]


def assumptions(bundle) -> list[str]:
    """What the intervals rest on, and which plan they answer to."""
    level = 100 * (1 - next(iter(bundle.plan.rules.values())).error)
    training = bundle.plan.training
    return [
        f"all intervals hold at once, at every look, with probability {level:g} % or more, if the differences of an "
        "accuracy are independent and normal, of one mean and spread;",
        f"they are about other seeds, not other problems: {training.problems} of each number of operations, held out;",
        f"equal parameters, the same batches for one seed; plan {bundle.plan.sha256[:12]}",
    ]
