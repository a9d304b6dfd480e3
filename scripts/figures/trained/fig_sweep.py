"""Accuracy against steps and steps to 95 % of any sweep: Figures 1a, 1b, 7a and their like (kv.fig1a.*, kv.fig1b.*).

Left: median held-out accuracy over seeds, of up to four variants with interquartile bands; a run that stopped at the
level stays where it was, and of two medians that coincide the first is drawn wide. Right: each seed's steps to the
level, an open triangle at the budget where it was not reached (right-censored) and at the first score where it was
reached by then (left-censored); the bar is the median and its 95 % bootstrap interval, an arrow where an end is open.
"""

from typing import TYPE_CHECKING, Any, NamedTuple

from ...commands.cli import Parser
from ..figure_command import figure_parser, write_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

QUICK_DRAWS, FULL_DRAWS = 1000, 10_000


BLIND = 4096


class Data(NamedTuple):
    """Arrays by variant; accuracy is (variant, seed, score), NaN after a censored run's end or where there is no seed.

    times: (variant, seed) steps to the level, inf where censored, NaN where there is no seed; median: (variant, 3),
    the median, the low and the high end of its interval; budget: (variant,) steps; level; every: steps between scores.
    """

    names: "NDArray"
    steps: "NDArray"
    accuracy: "NDArray"
    times: "NDArray"
    median: "NDArray"
    budget: "NDArray"
    level: "NDArray"
    blind: "NDArray"  # (variant,) share of rows whose answer is the most frequent one: accuracy without a look at them
    title: "NDArray"
    caption: "NDArray"  # what the models share, how many seeds there are, and when a run ends


def compute(results: list[Any], level: float, title: str = "", draws: int = QUICK_DRAWS) -> Data:
    """Arrays of a finished sweep's results."""
    import numpy as np

    from dynamics.statistics.survival import median_interval

    from ...commands.sweep import by_variant

    groups = by_variant(results)
    seeds, steps = max(map(len, groups.values())), np.unique(np.concatenate([result.steps for result in results]))
    accuracy = np.full((len(groups), seeds, len(steps)), np.nan)
    times = np.full((len(groups), seeds), np.nan)
    for row, mine in enumerate(groups.values()):
        for column, result in enumerate(mine):
            accuracy[row, column] = _on_grid(result, steps)
            times[row, column] = np.inf if result.censored else result.steps_to_level
    median = [median_interval([r.steps_to_level for r in mine], draws=draws) for mine in groups.values()]
    budget = [mine[0].job.training.steps for mine in groups.values()]
    names, blind = np.array(list(groups)), [_blind(mine[0].job) for mine in groups.values()]
    said = median, budget, level, blind, title, _caption(results, seeds)
    return Data(names, steps, accuracy, times, *map(np.array, said))


def _blind(job: Any) -> float:
    """How often the most frequent answer of the job's task is right, in BLIND rows."""
    import numpy as np

    batch = job.training.task.draw(np.random.default_rng(0), BLIND, job.config.vocab, job.training.seed)
    return float(np.unique(batch.target, return_counts=True)[1].max()) / BLIND


def _caption(results: list[Any], seeds: int) -> str:
    from dynamics.training.describe import sizes

    measure = results[0].measure
    known = sizes((result.job.config, result.job.training) for result in results)
    end = measure.level if measure.stop_at is None else measure.stop_at
    stop = f"; a run ends at {100 * end:g} % and is drawn on from there" if measure.stop else ""
    return f"{known}\n{'one seed' if seeds == 1 else f'{seeds} seeds'}{stop}; dotted: always the most frequent answer"


def _on_grid(result: Any, steps: "NDArray") -> "NDArray":
    """A run's accuracy at each of steps: its last score before, NaN before the first and after a censored end."""
    import numpy as np

    index = np.searchsorted(result.steps, steps, side="right") - 1
    held = np.array(result.accuracy)[np.maximum(index, 0)]
    ended = result.censored & (steps > result.steps[-1])
    return np.where((index < 0) | ended, np.nan, held)


def draw(data: Data) -> "Figure":
    """Curves on the left, steps to the level on the right, one colour a variant."""
    from .sweep_panels import draw_panels

    return draw_panels(data)


def parser() -> Parser:
    p = figure_parser("fig_sweep", __doc__, (QUICK_DRAWS, FULL_DRAWS), "bootstrap draws")
    p.set_defaults(out=None)
    p.add_argument(
        "--preset", metavar="NAME", help="which experiment (default figure-1a); with --sweep, whose title it has"
    )
    p.add_argument(
        "--sweep", metavar="FOLDER", help="a finished sweep of yours (default: the results that are shipped)"
    )
    return p


def _data(args: Any, draws: int) -> Data:
    """Of the folder given, else of the preset as shipped, which needs no torch."""
    from dynamics.experiments.presets import SWEEPS
    from dynamics.sweep.shipped import shipped_sweep

    from ...commands.sweep import by_variant

    if args.sweep:
        from dynamics.sweep.run import read_sweep

        manifest, results = read_sweep(args.sweep)
        if args.preset in SWEEPS and not by_variant(results).keys() <= SWEEPS[args.preset].variants.keys():
            raise ValueError(f"{args.sweep}: not a sweep of {args.preset}")
    else:
        manifest, results = shipped_sweep(args.preset)
    title = SWEEPS[args.preset].title if args.preset in SWEEPS else args.preset or ""
    return compute(results, manifest.measure.level, title, draws)


def main(argv: list[str] | None = None) -> int:
    args = parser().parse_args(argv)
    if args.preset is None and not args.sweep:
        args.preset = "figure-1a"
    if args.preset and "/" in args.preset:
        raise ValueError(f"no preset {args.preset!r}")
    args.name = f"fig_sweep_{args.preset}" if args.preset else "fig_sweep"
    args.out = args.out or f"out/{args.name}"
    return write_figure(args, lambda draws: _data(args, draws), draw)
