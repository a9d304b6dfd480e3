"""A training on the landscape of Theorem 3.4: the paths of its heads, and its loss beside the predicted one (kv.thm3.4).

RUN is the folder of a run that `train` has written, that goes on or was killed, or a folder of such runs.
(a) The theorem's loss in rows of T tokens on the plane alpha1 = beta2 = 0. Across: key gain x alpha2; up: value gain x
beta1. The gains stand for what the theorem fixes to 1. Each head has a path. A mark is coloured by the head's own loss,
at all four of its coordinates, so that it may differ from the map beneath it. It is hollow where the other two
coordinates, key gain x alpha1 and value gain x beta2, lie further than 1 from 0.
(b) By step: the measured loss over the vocabulary, and among the row's own tokens, and what the theorem predicts for all
heads together and for the best head alone, as a mean over the task's rows. (c) The steps from the measured to the
predicted loss at the end, in the order in which parts of the model are taken away.
"""

from collections.abc import Sequence
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from ...commands.cli import Parser, whole
from ..figure_command import figure_parser, write_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

    from dynamics.observed.log import Line
    from dynamics.training.folder import Run

QUICK_SIZE, FULL_SIZE = 61, 181
REACH, LEAST = 1.4, 3.0  # of the axes: over the farthest head, and at least so far
LONGEST = 4096  # of --tokens


class Data(NamedTuple):
    """Arrays begin with an axis of runs and, but for the last three of them, of lines; NaN where a run has no more."""

    names: "NDArray"
    tokens: "NDArray"  # T of the landscape
    guess: "NDArray"  # the loss of a guess in such rows, log T
    blind: "NDArray"  # the same as a mean over the task's rows
    key: "NDArray"  # key gain x alpha2 of the map
    value: "NDArray"  # value gain x beta1
    map: "NDArray"  # (key, value) the theorem's loss
    steps: "NDArray"
    theta: "NDArray"  # (run, line, head, 4)
    own: "NDArray"  # (run, line, head) the theorem's loss of a head alone at T
    distance: "NDArray"  # (run, line, head) from the plane
    losses: "NDArray"  # (run, line, stage)
    predicted: "NDArray"  # of all heads together, a mean over the task's rows
    best: "NDArray"  # of the best head alone
    successor: "NDArray"  # (run, head) attention at the end
    gaps: "NDArray"  # (run, name) at the end
    state: "NDArray"  # (run,) in words, where a run stands that is not finished
    outside: "NDArray"  # (run,) in words, what the theorem leaves out
    kind: "NDArray"  # "seeds" of one setting, else "runs"


def compute(names: Sequence[str], runs: "Sequence[Run]", size: int = QUICK_SIZE, tokens: int | None = None) -> Data:
    """The paths and losses of runs on one induction task, on the map of rows of `tokens`, else of their mean length."""
    import numpy as np

    from dynamics.heads import theorem
    from theory import landscape

    task = runs[0].training.task
    tokens = tokens or max(4, round(task.mean_length()))
    parts = [_padded(part) for part in zip(*(_of_run(run, tokens) for run in runs), strict=True)]
    theta = parts[1]
    key, value = (_axis(theta[..., number], size) for number in (1, 2))
    return Data(
        np.array(names),
        np.array(tokens),
        landscape.loss(0.0, 0.0, 0.0, 0.0, tokens, "mean"),
        theorem.predicted(np.zeros((1, 4)), task.pool),
        key,
        value,
        landscape.loss(0.0, key[:, None], value[None], 0.0, tokens, "mean"),
        *parts,
        np.array([_state(run) for run in runs]),
        np.array([", ".join(theorem.outside(run.model.config)) for run in runs]),
        np.array("seeds" if len({_setting(run) for run in runs}) == 1 else "runs"),
    )


def _of_run(run: "Run", tokens: int) -> "tuple[NDArray, ...]":
    """Data's fields of one run, from `steps` to `gaps`."""
    import numpy as np

    from dynamics.heads import theorem
    from dynamics.observed.log import stacked

    lines, pool = run.lines, run.training.task.pool
    losses = stacked(lines, "losses")
    theta = theorem.coordinates(stacked(lines, "gain"), *(stacked(lines, name)[:, 0] for name in ("alpha", "beta")))
    together, alone = theorem.predicted(theta, pool), theorem.predicted(theta[..., None, :], pool)
    return (
        np.array([float(line.step) for line in lines]),
        theta,
        theorem.predicted_at(theta[..., None, :], tokens),
        np.hypot(theta[..., 0], theta[..., 3]),
        losses,
        together,
        alone.min(-1),
        stacked(lines, "successor")[-1, 0],
        -np.diff([*losses[-1], together[-1]]),
    )


def _padded(found: "Sequence[NDArray]") -> "NDArray":
    """Arrays of different shapes as one, with NaN behind the shorter ones."""
    import numpy as np

    shape = np.max([one.shape for one in found], axis=0)
    return np.array([np.pad(one, [(0, gap) for gap in shape - one.shape], constant_values=np.nan) for one in found])


def _axis(places: "NDArray", size: int) -> "NDArray":
    """Evenly spaced on a symlog axis, a bit further than all heads."""
    import numpy as np

    ends = REACH * np.nanmin(places), REACH * np.nanmax(places)
    ends = min(ends[0], -LEAST), max(ends[1], LEAST)
    return np.sinh(np.linspace(*np.arcsinh(ends), size))


def _state(run: "Run") -> str:
    return "" if run.finished else f"step {run.lines[-1].step} of {run.training.steps}"


def _setting(run: "Run") -> str:
    """All settings of a run but its seed."""
    return f"{run.model.config} {run.training.model_copy(update={'seed': 0})}"


def draw(data: Data) -> "Figure":
    from .training_panels import draw_panels

    return draw_panels(data)


def read(given: Sequence[str]) -> "tuple[list[str], list[Run]]":
    """Names and runs of the folders given. Raises: OSError, ValueError of one line that names the folder or file."""
    folders = [folder for path in given for folder in _folders(Path(path))]
    runs = [_checked(folder) for folder in folders]
    pools = {run.training.task.pool: folder for run, folder in zip(runs, folders, strict=True)}
    if len(pools) > 1:
        raise ValueError(f"runs of one pool only, got {', '.join(f'{p} in {folder}' for p, folder in pools.items())}")
    return _names(folders), runs


def _folders(path: Path) -> list[Path]:
    """The folder itself if it holds a log, else those one or two levels below it that do."""
    from dynamics.observed.task import LOG

    if not path.is_dir():
        raise ValueError(f"{path}: no such folder")
    logs = [log for depth in ("", "*/", "*/*/") for log in path.glob(depth + LOG)]
    if not logs:
        raise ValueError(f"{path}: no {LOG} in this folder, nor in the folders one or two levels below it")
    return [path] if logs[0].parent == path else sorted(log.parent for log in logs)


def _names(folders: Sequence[Path]) -> list[str]:
    """The parts in which the paths differ."""
    parts = [folder.absolute().parts for folder in folders]
    apart = [len(set(column)) > 1 for column in zip_longest(*parts)]
    shown = ("/".join(part for part, differs in zip(one, apart, strict=False) if differs) for one in parts)
    return [name or folder.absolute().name for name, folder in zip(shown, folders, strict=True)]


def _checked(folder: Path) -> "Run":
    """A run with the lines of its log that have coordinates."""
    from dynamics.heads import theorem
    from dynamics.observed.task import LOG
    from dynamics.tasks.induction import as_induction
    from dynamics.training.folder import read_run

    run = read_run(folder)
    config = run.model.config
    try:
        as_induction(run.training.task)
    except ValueError as error:
        raise ValueError(f"{folder}: {error}") from None
    if not theorem.has_gains(config):
        why = ", ".join(reason for reason in theorem.outside(config) if reason != "MLP")
        raise ValueError(f"{folder}: its heads have no coordinates, because the model has {why}")
    lines = [line for line in run.lines if _has_gains(line)]
    if not lines:
        raise ValueError(f"{folder / LOG}: no line with gains")
    return run._replace(lines=lines)


def _has_gains(line: "Line") -> bool:
    """Whether all coordinates of a line are numbers: those of a run that diverged are not."""
    import numpy as np

    from dynamics.heads.theorem import STAGES

    found = [np.array(one, dtype=np.float64) for one in (line.alpha, line.beta, line.gain)]
    whole_line = line.successor is not None and len(line.losses or ()) == len(STAGES)
    return whole_line and all(np.isfinite(one).all() for one in found)


def parser() -> Parser:
    p = figure_parser("fig_training", __doc__, (QUICK_SIZE, FULL_SIZE), "points a side of the map")
    p.add_argument("runs", nargs="+", metavar="RUN", help="the folder of a run, or a folder of runs")
    p.add_argument(
        "--tokens", type=whole(2, LONGEST), metavar="T", help="tokens of the map's rows (default: their mean length)"
    )
    return p


def main(argv: list[str] | None = None) -> int:
    args = parser().parse_args(argv)
    return write_figure(args, lambda size: compute(*read(args.runs), size, args.tokens), draw)
