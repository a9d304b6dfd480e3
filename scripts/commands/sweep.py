"""Train many small models, resume after any interruption, print how many steps each needs to reach 95 % accuracy."""

from .cli import Parser, command_parser, hashed_file, output_folder, resumable, whole

BACKENDS = ("loky", "sequential", "dask")


def parser() -> Parser:
    """Return the command line; nothing heavy is imported for it."""
    line = command_parser("sweep", __doc__)
    line.add_argument(
        "--preset", nargs="+", default=["figure-1a"], metavar="NAME", help="which experiments (default: figure-1a)"
    )
    line.add_argument("--list", action="store_true", help="name every experiment and what it shows, and stop")
    line.add_argument(
        "--out",
        metavar="FOLDER",
        help="a sweep begun there is continued; of several experiments each has a folder in it "
        "(default: out/sweep/<experiment>)",
    )
    size = line.add_mutually_exclusive_group()
    size.add_argument("--quick", action="store_true", help="fewer seeds and steps: minutes")
    size.add_argument("--paper-size", action="store_true", help="the paper's own size; needs an accelerator")
    line.add_argument("--seeds", type=whole(1), help="seeds a model (default: the preset's)")
    line.add_argument("--bundle", metavar="FILE", help="write the finished sweep of one experiment into one file too")
    line.add_argument("--jobs", type=whole(1), help="processes of the loky backend (default: one a core)")
    line.add_argument("--backend", choices=BACKENDS, default="loky", help="what runs the jobs (default: loky)")
    line.add_argument("--scheduler", metavar="ADDRESS", help="of the dask backend; needs the extra [hpc]")
    line.add_argument("--device", default="cpu", help="auto, cpu or cuda[:N], for every job (default: cpu)")
    line.add_argument(
        "--threads", type=whole(1), default=1, help="CPU threads a job (results depend on it; default: 1)"
    )
    line.add_argument("--weights", action="store_true", help="keep a checkpoint a job")
    return line


def main(argv: list[str] | None = None) -> int:
    """Run the command line; return its exit code."""
    options = parser().parse_args(argv)
    if (options.backend == "dask") != (options.scheduler is not None):
        raise ValueError("--backend dask and --scheduler ADDRESS go together")
    if len(set(options.preset)) < len(options.preset):
        raise ValueError("each experiment once, please")
    if options.bundle and len(options.preset) > 1:
        raise ValueError("--bundle takes one experiment")
    root = output_folder(options.out or "out/sweep")
    bundle = options.bundle and hashed_file(options.bundle)
    from dynamics.experiments.presets import PAPER, QUICK, SWEEPS, named  # here, so that --help stays quick

    if options.list:
        print("\n".join(f"{name:<26} {preset.title}" for name, preset in sorted(SWEEPS.items())))
        return 0
    size = QUICK if options.quick else PAPER if options.paper_size else ""
    presets = {name + size: named(name, size) for name in options.preset}
    for name, preset in presets.items():
        whole_folder = options.out and len(presets) == 1
        with resumable():
            _sweep(name, preset, root if whole_folder else root / name, bundle, options)
    return 0


def _sweep(name, preset, out, bundle, options) -> None:
    """Run or finish one sweep, print its table, and write its bundle if one is asked for."""
    from dynamics.sweep.run import read_sweep
    from dynamics.training.describe import sizes

    results = _results(preset, out, options)
    print("\n".join([preset.title, sizes(preset.variants.values()), *table(results, preset.measure.level)]))
    print(f"{out}: one JSON file a job in results/")
    if bundle:
        from dynamics.sweep.shipped import write_bundle

        write_bundle(bundle, name, *read_sweep(out))
        print(bundle)


def _results(preset, out, options):
    from dynamics.sweep.run import run_sweep

    return run_sweep(
        preset.jobs(options.seeds),
        out,
        measure=preset.measure,
        backend=options.backend,
        n_jobs=options.jobs or -1,
        scheduler=options.scheduler,
        device=options.device,
        threads=options.threads,
        weights=options.weights,
        precision=preset.precision,
        progress=not options.quiet,
    )


def table(results, level: float) -> list[str]:
    """A line a variant: how many runs reached the level, the median of their steps with its interval, the range."""
    from dynamics.statistics.survival import median_interval

    lines = [
        f"{'variant':<24} {f'reached {100 * level:g} %':>14} {'median steps':>14} {'95 % interval':>16} {'range':>14}"
    ]
    for name, mine in by_variant(results).items():
        budget = mine[0].job.training.steps
        times = [result.steps_to_level for result in mine]
        reached = sorted(time for time in times if time is not None)
        middle = median_interval(times)
        spread = "-".join(dict.fromkeys((str(reached[0]), str(reached[-1])))) if reached and len(times) > 1 else "-"
        interval = f"{shown(middle.low, budget)}..{shown(middle.high, budget)}" if len(times) > 1 else "one seed"
        count = f"{len(reached)} of {len(mine)}"
        lines.append(f"{name:<24} {count:>14} {shown(middle.value, budget):>14} {interval:>16} {spread:>14}")
    return lines


def by_variant(results) -> dict[str, list]:
    """The results by variant, in the order of the sweep."""
    from dynamics.experiments import variant_of

    groups: dict[str, list] = {}
    for result in results:
        groups.setdefault(variant_of(result.job.name), []).append(result)
    return groups


def shown(steps: float, budget: int) -> str:
    """Steps as text; "> budget" where they are censored."""
    return f">{budget}" if steps == float("inf") else f"{steps:g}"
