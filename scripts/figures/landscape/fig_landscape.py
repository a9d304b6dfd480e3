"""Figure 2 of the KV-shifting paper: exact, as Eq. 10 prints it, as its listing draws it (kv.fig2.*, kv.listing_l.*).

Contour lines of the loss and descent directions on a plane of the four parameters; by default alpha2 = 1 - alpha1,
beta2 = 1 - beta1, as in the paper. A column is one number of tokens T; the two printed forms take O(T) = T - 4 as their
constant. Colour: angle to the exact direction.
"""

import argparse
from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from ...commands.cli import Parser, finite, whole
from ..figure_command import figure_parser, write_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

    from proofs_check.kv.landscape.plane_points import CriticalPoint
    from theory.landscape.planes import Field

QUICK_SIZE, FULL_SIZE = 101, 201
PARAMETERS, ROWS = ("alpha1", "alpha2", "beta1", "beta2"), ("exact", "equation", "listing")
LARGEST = 10**6


class Data(NamedTuple):
    """A field for each T, and what is drawn beside its loss and slopes.

    angle: (row, column, n, n), degrees to the exact row of the same column, None without one. proved: the critical
    points of each field, None unless asked for. layers: options of the further layers of `landscape_plot`.
    """

    fields: "tuple[Field, ...]"
    angle: "NDArray | None"
    seed: int
    proved: "list[list[CriticalPoint]] | None" = None
    layers: Mapping[str, Any] = MappingProxyType({})
    title: str = ""


def compute(
    tokens: tuple[int, ...] = (4, 12, 104),
    size: int = QUICK_SIZE,
    seed: int = 0,
    *,
    rows: tuple[str, ...] = ROWS,
    axes: tuple[str, str] = ("alpha1", "beta1"),
    box: tuple[float, ...] = (0.0, 1.0, 0.0, 1.0),
    fixed: Mapping[str, str] | None = None,
    position: int | str | None = None,
    critical: bool = False,
) -> Data:
    """The landscapes of each T. Raises ValueError as `landscape.field` does."""
    import numpy as np

    from theory.landscape.planes import field, plane

    fields = tuple(field(axes, box, t, fixed=fixed, position=position, rows=rows, size=size) for t in tokens)
    angle = proved = None
    if "exact" in rows and len(rows) > 1:
        angle = np.array([[_angle(one, row) for one in fields] for row in range(len(rows))])
    if critical:
        from proofs_check.kv.landscape.plane_points import critical_points

        proved = [critical_points(one.plane, one.n_tokens, one.position, tuple(box)) for one in fields]
    usual = fields[0].plane == plane() and position is None
    return Data(fields, angle, seed, proved, {}, "" if usual else _words(fixed or {}, position))


def _angle(field: "Field", row: int) -> "NDArray":
    """Degrees between the slopes of a row and of the exact one."""
    import numpy as np

    from theory.landscape.grid import SliceGrid, angle_between

    one, exact = (
        SliceGrid(field.first, field.second, field.loss[k], field.d_first[k], field.d_second[k])
        for k in (row, field.rows.index("exact"))
    )
    return np.degrees(angle_between(one, exact))


def _words(fixed: Mapping[str, str], position: int | str | None) -> str:
    """The plane and the position, as a title."""
    from .landscape_plot import SYMBOLS

    texts = [f"{name}={value}".replace(" ", "").replace("*", "") for name, value in fixed.items()]
    for name, symbol in SYMBOLS.items():
        texts = [text.replace(name, symbol) for text in texts]
    return ", ".join([*texts, *([] if position is None else [f"position {position}"])])


def arrays(data: Data) -> dict[str, Any]:
    """What is stored beside the figure: axes and slopes under the names of the plane's axes."""
    import numpy as np

    one = data.fields[0]
    first, second = one.plane.axes
    loss, d_first, d_second = (
        np.array([[getattr(field, name)[row] for field in data.fields] for row in range(len(one.rows))])
        for name in ("loss", "d_first", "d_second")
    )
    found = {
        "tokens": np.array([int(field.n_tokens) for field in data.fields]),
        first: one.first,
        second: one.second,
        "loss": loss,
        f"d_{first}": d_first,
        f"d_{second}": d_second,
    }
    if data.angle is not None:
        found["angle"] = data.angle
    found["seed"] = np.array(data.seed)
    return found | _more(data)


def _more(data: Data) -> dict[str, Any]:
    """What Figure 2's own plane and rows do without."""
    import numpy as np

    from theory.landscape.planes import plane

    one, found = data.fields[0], {}
    if one.rows != ROWS:
        found["rows"] = np.array(one.rows)
    if one.plane != plane():
        found |= {"plane_origin": one.plane.origin, "plane_along": one.plane.along}
    if one.position is not None:
        found["position"] = np.array(str(one.position))
    if data.proved is not None:
        points = [(number, point) for number, points in enumerate(data.proved) for point in points]
        found["critical_column"] = np.array([number for number, _ in points], dtype=int)
        found["critical"] = np.array([point.place for _, point in points]).reshape(-1, 2)
        found["critical_kind"] = np.array([point.kind for _, point in points], dtype=str)
    return found | {name: options["starts" if name == "flow" else "theta"] for name, options in data.layers.items()}


def draw(data: Data) -> "Figure":
    """Panels by row and column, one colour bar for the angle."""
    from .landscape_panels import draw_panels

    return draw_panels(data)


def parser() -> Parser:
    p = figure_parser("fig_landscape", __doc__, (QUICK_SIZE, FULL_SIZE), "points a side", full=False)
    p.add_argument(
        "--tokens",
        type=_tokens,
        default=(4, 12, 104),
        metavar="T,T,..",
        help=f"numbers of tokens, 2 to {LARGEST} (default 4,12,104)",
    )
    p.add_argument(
        "--rows",
        type=_rows,
        default=ROWS,
        metavar="ROW,ROW,..",
        help="of exact, equation (Eq. 10) and listing (Appendix L); default all three",
    )
    p.add_argument(
        "--axes",
        nargs=2,
        choices=PARAMETERS,
        default=("alpha1", "beta1"),
        metavar=("NAME", "NAME"),
        help="the two coordinates (default alpha1 beta1)",
    )
    p.add_argument(
        "--fix",
        nargs="+",
        type=_relation,
        metavar="NAME=VALUE",
        help="the other two: numbers, or affine in the axes such as alpha2=1-alpha1",
    )
    p.add_argument(
        "--box",
        nargs=4,
        type=finite,
        default=(0.0, 1.0, 0.0, 1.0),
        metavar=("X0", "X1", "Y0", "Y1"),
        help="ends of both coordinates (default 0 1 0 1)",
    )
    p.add_argument(
        "--position",
        type=position_type,
        metavar="I",
        help="of the repeated token: interior (default), first, last, end, mean, or 1 to T",
    )
    p.add_argument("--start", metavar="FILE.npy", help="starts of gradient flow, (k, 4) or (k, 2) on the plane")
    p.add_argument("--points", metavar="FILE.npy", help="points to mark, of the same shapes")
    p.add_argument(
        "--critical",
        action="store_true",
        help="mark the critical points that are proved, and the separatrices of saddles",
    )
    p.add_argument("--title", metavar="TEXT", help="above the panels")
    p.add_argument("--seed", type=whole(0), default=0, help="moves the starts of the streamlines (default 0)")
    return p


def _tokens(text: str) -> tuple[int, ...]:
    parts = text.split(",")
    if not all(part.isascii() and part.isdigit() for part in parts) or len(parts) > 9:
        raise argparse.ArgumentTypeError(f"expected one to nine whole numbers such as 4,12,104, got {text!r}")
    tokens = tuple(int(part) for part in parts)
    if not all(2 <= t <= LARGEST for t in tokens):
        raise argparse.ArgumentTypeError(f"each number of tokens must lie in 2..{LARGEST}, got {text}")
    return tokens


def _rows(text: str) -> tuple[str, ...]:
    rows = tuple(text.split(","))
    if not set(rows) <= set(ROWS) or len(set(rows)) < len(rows):
        raise argparse.ArgumentTypeError(f"expected one or more of {', '.join(ROWS)}, got {text!r}")
    return rows


def _relation(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals or not value.strip() or name not in PARAMETERS:
        raise argparse.ArgumentTypeError(f"expected NAME=VALUE such as alpha2=1-alpha1, got {text!r}")
    return name, value


def position_type(text: str) -> int | str | None:
    if text.isascii() and text.isdigit():
        return int(text)
    words = ("interior", "first", "last", "end", "mean")
    if text not in words:
        raise argparse.ArgumentTypeError(f"expected {', '.join(words)} or a whole number, got {text!r}")
    return None if text == "interior" else text


def _stored(path: str, field: "Field", name: str) -> "NDArray":
    """Parameters (k, 4) of the points in a file. Raises ValueError for a file that is no array of points."""
    from dynamics.files.arrays import read_array

    from .landscape_plot import thetas

    return thetas(field, read_array(path), f"the {name} of {path}")


def main(argv: list[str] | None = None) -> int:
    args = parser().parse_args(argv)
    pairs = args.fix or ()
    if len(dict(pairs)) < len(pairs):
        raise ValueError("--fix gives one parameter twice")

    def data(size: int) -> Data:
        found = compute(
            args.tokens,
            size,
            args.seed,
            rows=args.rows,
            axes=tuple(args.axes),
            box=tuple(args.box),
            fixed=dict(pairs) or None,
            position=args.position,
            critical=args.critical,
        )
        layers: dict[str, Any] = {}
        if args.start:
            layers["flow"] = {"starts": _stored(args.start, found.fields[0], "starts")}
        if args.points:
            layers["points"] = {"theta": _stored(args.points, found.fields[0], "points")}
        return found._replace(layers=layers, title=args.title or found.title)

    return write_figure(args, data, draw, arrays)
