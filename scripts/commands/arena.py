"""Train attention variants side by side on packed text, by a plan fixed beforehand, and say which is better.

Seeds are added until each comparison's rule stops or its budget ends; intervals hold for all comparisons at once, and
at every look. Interrupted, the same command goes on where it stopped, to the same bytes. --table shows what is shipped.
"""

from .cli import Parser, command_parser, hashed_file, output_file, output_folder, resumable, whole, write_json

NAMES = ("league", "latent", "ablations", "borrowed", "settings", "rates", "quick", "paper-82m", "paper-180m")


def parser() -> Parser:
    """Return the command line; nothing heavy is imported for it."""
    line = command_parser("arena", __doc__)
    line.add_argument("preset", nargs="?", choices=NAMES, help="which plan (default: league)")
    line.add_argument("--quick", action="store_true", help="the plan `quick`: minutes on two cores")
    line.add_argument("--out", metavar="FOLDER", help="plan, results and states (default: out/arena/<preset>)")
    line.add_argument("--table", action="store_true", help="train nothing: the table of --out, or of what is shipped")
    line.add_argument("--json", metavar="FILE", help="write the table as JSON too")
    line.add_argument(
        "--bundle", metavar="FILE", help="write plan and losses, if all runs are there, as one file, its hash beside it"
    )
    line.add_argument(
        "--speeds", metavar="FILE", help="train nothing: time a step of each entry, write it, hash beside"
    )
    line.add_argument(
        "--ways", metavar="FILE", help="train nothing: time each size of stack of each entry, write it, hash beside"
    )
    line.add_argument(
        "--choose",
        action="store_true",
        help="measure first how many seeds of an entry to stack; part of the plan (CPU)",
    )
    line.add_argument("--jobs", type=whole(1), help="processes (default: one a core)")
    line.add_argument("--scheduler", metavar="ADDRESS", help="train on this dask cluster; needs the extra [hpc]")
    line.add_argument("--device", default="cpu", help="auto, cpu or cuda[:N], for every model (default: cpu)")
    line.add_argument("--threads", type=whole(1), default=1, help="CPU threads a model (results depend on it)")
    line.add_argument("--precision", choices=("float32", "bfloat16"), default="float32", help="of matmuls in training")
    return line


def main(argv: list[str] | None = None) -> int:
    """Run the command line; return its exit code."""
    options = parser().parse_args(argv)
    name = _preset(options)
    files = [file and output_file(file) for file in (options.json, options.bundle)]
    for hashed in (options.bundle, options.speeds, options.ways):
        if hashed:
            hashed_file(hashed)
    if options.speeds:
        return _timed(name, options.speeds)
    if options.ways:
        return _ways(name, options)
    bundle = _stored(name, options) if options.table else _trained(name, options)
    if files[1]:
        from dynamics.arena.bundle import write_bundle

        write_bundle(files[1], bundle)  # before anything is said: one that is not finished is refused
    print("\n".join(table(bundle)))
    if files[0]:
        write_json(files[0], as_json(bundle))
        print(files[0])
    if files[1]:
        print(files[1])
    return 0


def _preset(options) -> str:
    """The plan's name. Raises ValueError for options that ask for two things."""
    if options.quick and options.preset not in (None, "quick"):
        raise ValueError(f"--quick is a plan of its own: not with {options.preset}")
    measuring = ("table", "json", "bundle", "choose")
    apart = {"speeds": (*measuring, "ways"), "ways": measuring, "table": ("choose",), "scheduler": ("jobs", "choose")}
    for one, others in apart.items():
        for other in others:
            if getattr(options, one) and getattr(options, other):
                raise ValueError(f"--{one} and --{other} do not go together")
    return "quick" if options.quick else options.preset or "league"


def _stored(name: str, options):
    from dynamics.arena.bundle import bundle_of, shipped_arena

    if options.out is None:
        return shipped_arena(name)
    from dynamics.arena.engine import read_place, read_plan, results

    plan = read_plan(options.out)
    return bundle_of(plan, results(options.out, plan), read_place(options.out))


def _timed(name: str, path: str) -> int:
    from dynamics.arena.bundle import write_timed
    from dynamics.arena.presets import PRESETS
    from dynamics.arena.speed import measure
    from dynamics.tasks.corpus import standard_library

    corpus = standard_library()
    plan = PRESETS[name](corpus.sha256)
    speeds = measure(plan, sorted(plan.entries), corpus)
    write_timed(path, speeds)
    for entry, found in sorted(speeds.speeds.items(), key=lambda item: -item[1].tokens_per_second):
        print(f"{entry:<30} {found.tokens_per_second:>9.0f} tokens/s")
    print(path)
    return 0


def _ways(name: str, options) -> int:
    from joblib import cpu_count

    from dynamics.arena.bundle import write_timed
    from dynamics.arena.presets import PRESETS
    from dynamics.arena.ways import measured, spoken
    from dynamics.tasks.corpus import standard_library

    _one_thread(options, "--ways")
    plan = PRESETS[name](standard_library().sha256)
    found = measured(plan, options.jobs or cpu_count(), progress=not options.quiet)
    write_timed(options.ways, found)
    print("\n".join(spoken(found)))
    print(options.ways)
    return 0


def _one_thread(options, named: str) -> None:
    if (options.device, options.threads) != ("cpu", 1):
        raise ValueError(f"{named} measures one CPU thread a process: it goes with no --device and no --threads")


def _trained(name: str, options):
    out = output_folder(options.out or f"out/arena/{name}")
    from dynamics.arena.bundle import bundle_of
    from dynamics.arena.engine import Place, run_arena
    from dynamics.arena.presets import PRESETS
    from dynamics.tasks.corpus import standard_library
    from dynamics.training.loop import choose_device

    device = str(choose_device(options.device))
    place = Place(device=device, threads=options.threads, precision=options.precision)
    plan = PRESETS[name](standard_library().sha256)
    with resumable():
        if options.choose:
            _one_thread(options, "--choose")
            plan = _chosen(plan, out, options.jobs)
        found = run_arena(plan, out, n_jobs=options.jobs or -1, scheduler=options.scheduler, place=place,
                          progress=not options.quiet)  # fmt: skip
    return bundle_of(plan, found, place)


def _chosen(plan, out, jobs: int | None):
    """The plan with the stacks that are fastest here, said in a line an entry."""
    from joblib import cpu_count

    from dynamics.arena.ways import WAYS, chosen_plan, read_ways, spoken

    plan = chosen_plan(plan, out, jobs or cpu_count())
    print("\n".join(spoken(read_ways(out / WAYS))))
    return plan


def table(bundle) -> list[str]:
    """A line a comparison, and what holds for all of them."""
    from dynamics.arena.league import lines, outcome, smallest

    found, x = lines(bundle), smallest(bundle.plan)
    wide = max([len(line.name) for line in found] + [10])
    head = f"{'loss against':<{wide}} {'seeds':>5} {'difference':>10} {'interval':>18}  outcome"
    rows = [
        f"{line.name:<{wide}} {line.seeds:>5} {_percent(line.difference):>10} "
        f"{_percent(line.low) + ' to ' + _percent(line.high):>18}  {outcome(line, x)}"
        for line in found
    ]
    return [bundle.plan.title, head, *rows, *_assumptions(bundle)]


def _assumptions(bundle) -> list[str]:
    rules = list(bundle.plan.comparisons.values())
    level = 100 * (1 - rules[0].rule.error)
    return [
        f"all intervals hold at once, at every look, with probability {level:g} % or more, if the differences of a "
        f"comparison are {_NAMED[rules[0].rule.method]};",
        f"equal parameters, the same batches for one seed; plan {bundle.plan.sha256[:12]}",
    ]


_NAMED = {"gaussian": "independent and normal, of one mean and spread", "symmetric": "independent and symmetric"}


def as_json(bundle) -> dict:
    """The league table: `variants`, and what they rest on."""
    from dynamics.arena.bundle import shipped_speeds
    from dynamics.arena.league import as_records

    speeds = shipped_speeds(bundle.plan)
    timed = {} if speeds is None else {"processor": speeds.processor}
    records = as_records(bundle, None if speeds is None else speeds.speeds)
    return {"plan_sha256": bundle.plan.sha256, **timed, "variants": records}


def _percent(share: float) -> str:
    return f"{100 * share:+.2f} %" if abs(share) < 10 else ("+inf" if share > 0 else "-100 %")
