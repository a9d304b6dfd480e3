"""Two routes: most starts flow to induction, some to anti-induction (kv.beyond.route.*, kv.beyond.critical_point*).

Two planes of starts of one flow in four parameters, coloured by the route that each start takes, with some paths
projected on the plane. The left plane holds the only critical point; the right one is Figure 2 of the KV-shifting
paper. Below: the parameters and the loss along one path of each route.
"""

from typing import TYPE_CHECKING, NamedTuple

from ...commands.cli import whole
from ..figure_command import figure_parser, write_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

QUICK_SIZE, FULL_SIZE = 21, 61
LEARNT, T_END = 0.1, 1e6  # once the loss is this small, the sign of beta1 tells the route
T_BORDER = 1e3  # by then all starts beside the border have taken a route
LIMITS = (-2.2, 2.2), (-1.0, 2.2)  # of both axes of a plane
STARTS = (-1.9, -1.1, -0.4, 0.4, 1.1, 1.9), (-0.7, 0.2, 1.1, 2.0)  # of paths, along both axes
EXAMPLES = (0.0, 0.5), (1.0, 0.0)  # (alpha1, beta1) on Figure 2's slice: one for each route


class Data(NamedTuple):
    """Planes: 0 is (alpha2, beta1) through the critical point, 1 is (alpha1, beta1) with alpha2, beta2 on the slice."""

    tokens: "NDArray"
    axes: "NDArray"  # (plane, size), of both coordinates
    route: "NDArray"  # (plane, first, second): 1 induction, -1 anti-induction, 0 not yet learnt
    border: "NDArray"  # (plane, first): the beta1 above which a start takes induction
    paths: "NDArray"  # (times, path, 4) of plane 0, and so on
    slice_paths: "NDArray"
    critical: "NDArray"  # (4,)
    eigenvalues: "NDArray"  # of the Hessian there, ascending: the flow leaves along the first two
    eigenvectors: "NDArray"  # (4, 4), columns
    box_share: "NDArray"  # of the starts in the paper's box that take anti-induction
    example_times: "NDArray"
    examples: "NDArray"  # (times, route, 4)
    example_loss: "NDArray"  # (times, route)


def compute(tokens: int = 8, size: int = QUICK_SIZE) -> Data:
    """Flows from both planes. Raises ValueError for a T outside 4..100."""
    import numpy as np

    from theory import landscape

    if not 4 <= tokens <= 100:
        raise ValueError(f"the number of tokens must lie in 4..100, got {tokens}")
    critical = np.array(landscape.critical_point(tokens))
    planes = (lambda a, b: (critical[0], a, b, critical[3])), (lambda a, b: (a, 1 - a, b, 1 - b))
    axes = np.array([np.linspace(*limits, size) for limits in LIMITS])
    paths = [_paths(_grid(plane, start), tokens, 300.0)[1] for plane, start in zip(planes, STARTS, strict=True)]
    times, examples = _paths(np.array([planes[1](*at) for at in EXAMPLES]), tokens, 1e4)
    box = _routes(_grid(planes[1], (np.arange(size) + 0.5) / size), tokens)
    return Data(
        np.array(tokens),
        axes,
        np.array([_routes(_grid(plane, axis), tokens) for plane, axis in zip(planes, axes, strict=True)]).reshape(
            2, size, size
        ),
        np.array([_border(plane, axis, tokens) for plane, axis in zip(planes, axes, strict=True)]),
        *paths,
        critical,
        *np.linalg.eigh(landscape.hessian(*critical, tokens)),
        np.mean(box < 0),
        times,
        examples,
        landscape.loss(*np.moveaxis(examples, -1, 0), tokens),
    )


def _grid(plane, axis) -> "NDArray":
    """Starts (size^2, 4) of a plane."""
    import numpy as np

    rows = plane(*np.meshgrid(axis, axis, indexing="ij"))
    return np.stack(np.broadcast_arrays(*rows), axis=-1).reshape(-1, 4)


def _border(plane, axis, tokens: int) -> "NDArray":
    """By bisection beyond both ends of the axis, so that the line leaves the panel where it is."""
    import numpy as np

    from .bisection import bisected

    def induction(beta1: "NDArray") -> "NDArray":
        starts = np.stack(np.broadcast_arrays(*plane(axis, beta1)), axis=-1)
        return _routes(starts.reshape(-1, 4), tokens, T_BORDER).reshape(beta1.shape) > 0

    reach = axis[-1] - axis[0]
    return bisected(induction, np.full_like(axis, axis[0] - reach), np.full_like(axis, axis[-1] + reach))


def _routes(starts: "NDArray", tokens: int, t_end: float = T_END) -> "NDArray":
    import numpy as np

    from dynamics.flow.trajectories import gradient_flow

    flow = gradient_flow(starts, tokens, t_end, times=[t_end], levels=[LEARNT], rtol=1e-7, atol=1e-9)
    return np.where(np.isnan(flow.level_times[0]), 0, np.sign(flow.theta[-1, :, 2])).astype(np.int8)


def _paths(starts: "NDArray", tokens: int, t_end: float) -> tuple["NDArray", "NDArray"]:
    import numpy as np

    from dynamics.flow.trajectories import gradient_flow

    times = np.concatenate([[0.0], np.geomspace(0.1, t_end, 120)])
    return times, gradient_flow(starts, tokens, t_end, times=times).theta


def draw(data: Data) -> "Figure":
    """Two planes above, two routes below."""
    from .phase_panels import draw_panels

    return draw_panels(data)


def main(argv: list[str] | None = None) -> int:
    p = figure_parser("fig_phase_portrait", __doc__, (QUICK_SIZE, FULL_SIZE), "starts a side")
    p.add_argument("--tokens", type=whole(4, 100), default=8, metavar="T", help="sentence length (default 8)")
    args = p.parse_args(argv)
    return write_figure(args, lambda size: compute(args.tokens, size), draw)
