"""A training on the landscape of Theorem 3.4: its heads' paths, and measured beside predicted loss.

RUN is the folder of a run of `train`, which may go on or have been killed, or a folder of such runs.
(a) The theorem's loss in rows of T tokens on the plane alpha1 = beta2 = 0. Across: key gain x alpha2; up: value gain x
beta1. The gains stand for what the theorem fixes to 1. Each head has a path. A mark has the colour of the head's own
loss, at all four of its coordinates, which may differ from the map beneath it. It is hollow where the other two
coordinates, key gain x alpha1 and value gain x beta2, lie further than 1 from 0.
(b) By step: the loss measured over the vocabulary and among the row's own tokens, and the theorem's for all heads
together and for the best head alone. The measured ones are means over the held-out rows of the log, the theorem's over
the law of the task's rows. (c) The differences between the measured and the predicted loss at the end, by name.
"""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from ...commands.cli import Parser, whole
from ..figure_command import figure_parser, write_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

    from dynamics.observed.log import Line
    from dynamics.observed.task import Run

QUICK_SIZE, FULL_SIZE = 61, 181
REACH, LEAST = 1.4, 3.0  # of the map: over the farthest head, and at least so far
LONGEST = 4096  # rows of --tokens


class Data(NamedTuple):
    """Arrays of runs begin with an axis of runs; NaN where a run has no more lines or heads."""

    names: "NDArray"
    said: "NDArray"  # which runs are not finished, and what the theorem leaves out
    tokens: "NDArray"  # T of the map
    guess: "NDArray"  # the loss of a guess in such rows, log T
    key: "NDArray"  # key gain x alpha2 of the map
    value: "NDArray"  # value gain x beta1
    map: "NDArray"  # (key, value) the theorem's loss
    farthest: "NDArray"  # of all distances at the end
    steps: "NDArray"  # (run, line)
    theta: "NDArray"  # (run, line, head, 4)
    own: "NDArray"  # (run, line, head) the theorem's loss of a head alone at T
    distance: "NDArray"  # (run, line, head) from the plane
    losses: "NDArray"  # (run, line, stage)
    predicted: "NDArray"  # (run, line) of all heads together, a mean over the task's rows
    best: "NDArray"  # (run, line) of the best head alone
    successor: "NDArray"  # (run, head) attention at the end
    gaps: "NDArray"  # (run, name) at the end


def compute(names: Sequence[str], runs: "Sequence[Run]", size: int = QUICK_SIZE, tokens: int | None = None) -> Data:
    """Paths and losses of runs on one induction task, on the map of rows of `tokens`, else of their mean length."""
    import numpy as np

    from dynamics.heads.theorem import outside
    from theory import landscape

    tokens = tokens or max(4, round(runs[0].training.task.mean_length()))
    steps, theta, own, distance, *rest = zip(*(_of_run(run, tokens) for run in runs), strict=True)
    key, value = (_axis(np.concatenate([one[..., number].ravel() for one in theta]), size) for number in (1, 2))
    said = [f"{name}: step {run.lines[-1].step} of {run.training.steps}"
            for name, run in zip(names, runs, strict=True) if not run.finished]  # fmt: skip
    left_out = {f"outside the theorem: {one}" for run in runs for one in outside(run.model.config)}
    return Data(
        np.array(names),
        np.array("; ".join([*said, *left_out])),
        np.array(tokens),
        landscape.loss(0.0, 0.0, 0.0, 0.0, tokens, "mean"),
        key,
        value,
        landscape.loss(0.0, key[:, None], value[None], 0.0, tokens, "mean"),
        np.array(max(one[-1].max() for one in distance)),
        *map(_padded, (steps, theta, own, distance, *rest)),
    )


def _of_run(run: "Run", tokens: int) -> "tuple[NDArray, ...]":
    """Data's fields of one run, from `steps` to `gaps`."""
    import numpy as np

    from dynamics.heads import theorem
    from dynamics.observed.log import stacked

    pool, losses = run.training.task.pool, stacked(run.lines, "losses")
    alpha, beta = (stacked(run.lines, name)[:, 0] for name in ("alpha", "beta"))
    theta = theorem.coordinates(stacked(run.lines, "gain"), alpha, beta)
    alone, predicted = theta[..., None, :], theorem.predicted(theta, pool)
    return (
        stacked(run.lines, "step"),
        theta,
        theorem.predicted_at(alone, tokens),
        np.hypot(theta[..., 0], theta[..., 3]),
        losses,
        predicted,
        theorem.predicted(alone, pool).min(-1),
        stacked(run.lines, "successor")[-1, 0],
        -np.diff([*losses[-1], predicted[-1]]),
    )


def _padded(found: "Sequence[NDArray]") -> "NDArray":
    """Arrays of different shapes as one, with NaN behind the shorter ones."""
    import numpy as np

    shape = np.max([one.shape for one in found], axis=0)
    return np.array([np.pad(one, [(0, gap) for gap in shape - one.shape], constant_values=np.nan) for one in found])


def _axis(places: "NDArray", size: int) -> "NDArray":
    """Even on a symlog axis, from beyond the least to beyond the greatest of the places."""
    import numpy as np

    ends = min(REACH * places.min(), -LEAST), max(REACH * places.max(), LEAST)
    return np.sinh(np.linspace(*np.arcsinh(ends), size))


def draw(data: Data) -> "Figure":
    from .training_panels import draw_panels

    return draw_panels(data)


def read(given: Sequence[str]) -> "tuple[list[str], list[Run]]":
    """Names and runs of the folders given. Raises: OSError, ValueError of one line that names the folder or file."""
    folders = [folder.absolute() for path in given for folder in _folders(Path(path))]
    runs = [_checked(folder) for folder in folders]
    pools = {run.training.task.pool: folder for run, folder in zip(runs, folders, strict=True)}
    if len(pools) > 1:
        raise ValueError(f"all runs must have one pool, got {', '.join(f'{one} in {pools[one]}' for one in pools)}")
    base = os.path.commonpath([folder.parent for folder in folders])
    return [str(folder.relative_to(base)) for folder in folders], runs


def _folders(path: Path) -> list[Path]:
    """The folder itself if it holds a log, else those one or two levels below it that do."""
    from dynamics.observed.task import LOG

    logs = [*path.glob(LOG)] or sorted([*path.glob(f"*/{LOG}"), *path.glob(f"*/*/{LOG}")])
    if not logs:
        found = f"no {LOG} in this folder, nor one or two levels below it" if path.is_dir() else "no such folder"
        raise ValueError(f"{path}: {found}")
    return [log.parent for log in logs]


def _checked(folder: Path) -> "Run":
    """A run with the lines of its log that have coordinates."""
    from dynamics.heads.theorem import outside
    from dynamics.observed.task import LOG, read_run

    run = read_run(folder)
    task = run.training.task.name
    why = [f"task {task}"] * (task != "induction") + [one for one in outside(run.model.config) if one != "MLP"]
    if why:
        raise ValueError(f"{folder}: its heads have no coordinates: {', '.join(why)}")
    run = run._replace(lines=[line for line in run.lines if _has_coordinates(line)])
    if not run.lines:
        raise ValueError(f"{folder / LOG}: no line with gains")
    return run


def _has_coordinates(line: "Line") -> bool:
    """Whether a line has all coordinates as numbers: after a run diverged it has not."""
    import numpy as np

    parts = line.alpha, line.beta, line.gain
    return line.successor is not None and all(None not in np.ravel(one) for one in parts)


def parser() -> Parser:
    p = figure_parser("fig_training", __doc__, (QUICK_SIZE, FULL_SIZE), "points a side of the map")
    p.add_argument("runs", nargs="+", metavar="RUN", help="the folder of a run, or a folder of runs")
    p.add_argument(
        "--tokens", type=whole(2, LONGEST), metavar="T", help="length of the map's rows (default: their mean)"
    )
    return p


def main(argv: list[str] | None = None) -> int:
    args = parser().parse_args(argv)
    return write_figure(args, lambda size: compute(*read(args.runs), size, args.tokens), draw)
