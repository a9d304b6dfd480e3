"""One point of the loss landscape: its loss, slopes and bend, where gradient flow takes it, and how long that takes.

The closed form is that of one KV-shift head on a sentence of T different tokens with one repeated (KV shifting, Theorem
3.4, corrected). It knows nothing of other heads, of MLPs or of the gains of a trained head.
"""

import math
from typing import TYPE_CHECKING, Any

from ..figures.landscape.fig_landscape import LARGEST, PARAMETERS, position_type
from .cli import Parser, command_parser, finite, jsonable, output_file, whole, write_json

if TYPE_CHECKING:
    from dynamics.flow.point import Point

_ZERO = 1e-13  # of the largest eigenvalue


def parser() -> Parser:
    p = command_parser("landscape", __doc__)
    for parameter in PARAMETERS:
        p.add_argument(f"--{parameter}", type=finite, required=True, metavar="X")
    p.add_argument("--tokens", type=whole(2, LARGEST), required=True, metavar="T", help="number of different tokens")
    p.add_argument(
        "--position",
        type=position_type,
        metavar="I",
        help="of the repeated token: interior (default), first, last, end, mean, or 1 to T",
    )
    p.add_argument("--time", type=finite, default=1e7, metavar="t", help="follow gradient flow to here (default 1e7)")
    p.add_argument("--json", metavar="FILE", help="write all numbers there")
    return p


def main(argv: list[str] | None = None) -> int:
    args = parser().parse_args(argv)
    target = None if args.json is None else output_file(args.json)
    from dynamics.flow.point import point

    found = point([getattr(args, name) for name in PARAMETERS], args.tokens, args.position, args.time)
    if target is not None:
        write_json(target, _document(found))
    print("\n".join(_lines(found)))
    return 0


def _document(found: "Point") -> dict[str, Any]:
    """All numbers; None for a time that is not reached or not known."""
    return jsonable(found._asdict() | {"status": found.status.value, "route": found.route})


def _lines(found: "Point") -> list[str]:
    guess = math.log(found.n_tokens)
    gap = f"{abs(found.excess):.3g} {'below' if found.excess < 0 else 'above'}" if found.excess else "equal to"
    size = max(abs(found.eigenvalues))
    up, down = (int((sign * found.eigenvalues > _ZERO * size).sum()) for sign in (1, -1))
    flat = f" and {4 - up - down} that rounding cannot tell from 0" if up + down < 4 else ""
    return [
        f"loss {found.loss:.6g} nats, {gap} guessing (log T = {guess:.6g})",
        "gradient: " + ", ".join(f"{name} {x:+.4g}" for name, x in zip(PARAMETERS, found.gradient, strict=True)),
        f"a {found.kind}; the Hessian has {up} positive and {down} negative eigenvalues{flat}",
        *_route(found),
    ]


def _route(found: "Point") -> list[str]:
    from dynamics.flow.point import LEARNT
    from dynamics.flow.trajectories import Status

    if found.kind == "critical point":
        leaves = "; from beside it, it leaves" if found.eigenvalues[0] < 0 else ""
        return [f"gradient flow stays at a critical point{leaves}"]
    if found.status is not Status.REACHED:
        return [f"gradient flow could not be followed: {found.status.value}"]
    if found.end_loss > LEARNT:
        lines = [f"gradient flow has not learnt by time {found.t_end:g}: its loss is above {LEARNT}"]
    else:
        sign = ">" if found.route == "induction" else "<"
        when = f"loss {LEARNT} at time {found.learning_time:.4g}"
        lines = [f"gradient flow goes to {found.route} (beta1 {sign} 0): {when}"]
    leading = "none here: " + found.no_leading_time
    if found.leading_time is not None:
        leading = f"{found.leading_time:.4g} (no bound on the difference at this T is known)"
    end = ", ".join(f"{name} {x:.4g}" for name, x in zip(PARAMETERS, found.end, strict=True))
    return [
        *lines,
        f"s* T, the time to leading order in T: {leading}",
        f"at time {found.t_end:g}: {end}; loss {found.end_loss:.4g}",
    ]
