"""Train many small models, resume after any interruption, print how many steps each needs to reach 95 % accuracy."""

import sys
from statistics import median

from scripts.cli import Parser, output_folder, run, whole

PRESETS, BACKENDS = ("figure-1a",), ("loky", "sequential", "dask")


def parser() -> Parser:
    """Return the command line; nothing heavy is imported for it."""
    line = Parser(prog="python -m scripts.sweep", description=__doc__)
    line.add_argument("--preset", choices=PRESETS, default="figure-1a", help="which models (default: figure-1a)")
    line.add_argument("--out", metavar="FOLDER", help="default: out/sweep/<preset>; a sweep begun there is continued")
    line.add_argument("--quick", action="store_true", help="one seed a model and fewer steps")
    line.add_argument("--seeds", type=whole(1), help="seeds a model (default: the preset's)")
    line.add_argument("--jobs", type=whole(1), help="processes of the loky backend (default: one a core)")
    line.add_argument("--backend", choices=BACKENDS, default="loky", help="what runs the jobs (default: loky)")
    line.add_argument("--scheduler", metavar="ADDRESS", help="of the dask backend; needs the extra [hpc]")
    line.add_argument("--device", default="cpu", help="auto, cpu or cuda[:N], for every job (default: cpu)")
    line.add_argument(
        "--threads", type=whole(1), default=1, help="CPU threads a job (results depend on it; default: 1)"
    )
    line.add_argument("--weights", action="store_true", help="keep a checkpoint a job")
    line.add_argument("--quiet", action="store_true", help="no progress bar")
    return line


def main(argv: list[str] | None = None) -> int:
    """Run the command line; return its exit code."""
    options = parser().parse_args(argv)
    if (options.backend == "dask") != (options.scheduler is not None):
        raise ValueError("--backend dask and --scheduler ADDRESS go together")
    name = options.preset + ("-quick" if options.quick else "")
    out = output_folder(options.out or f"out/sweep/{name}")
    from dynamics.sweep import run_sweep  # here, so that --help and mistakes on the command line stay quick
    from dynamics.sweep_presets import SWEEPS

    preset = SWEEPS[name]
    results = run_sweep(
        preset.jobs(options.seeds),
        out,
        measure=preset.measure,
        backend=options.backend,
        n_jobs=options.jobs or -1,
        scheduler=options.scheduler,
        device=options.device,
        threads=options.threads,
        weights=options.weights,
        progress=not options.quiet,
    )
    print("\n".join(table(results, preset)))
    print(f"{out}: one JSON file a job in results/")
    return 0


def table(results, preset) -> list[str]:
    """A line a model: how many of its jobs reached the level, and the median of their steps, censored ones included."""
    level = f"{100 * preset.measure.level:g} %"
    lines = [f"{'model':<12} {'reached ' + level:>14} {'median steps':>14} {'range':>14}"]
    for name in preset.models:
        mine = [result for result in results if result.job.name.startswith(f"{name}.seed-")]
        reached = sorted(result.steps_to_level for result in mine if not result.censored)
        spread = f"{reached[0]}-{reached[-1]}" if reached else "-"
        lines.append(f"{name:<12} {f'{len(reached)} of {len(mine)}':>14} {_median(mine):>14} {spread:>14}")
    return lines


def _median(results) -> str:
    """The median of steps to the level; "> budget" where it falls on a right-censored job."""
    budget = results[0].job.training.steps
    middle = median(float("inf") if r.censored else r.steps_to_level for r in results)
    return f"> {budget}" if middle == float("inf") else f"{middle:g}"


if __name__ == "__main__":
    sys.exit(run(main))
