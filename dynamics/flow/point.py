"""What the closed form says of one point: loss, slopes, bend, and where gradient flow takes it."""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from dynamics.flow.trajectories import Status, gradient_flow
from dynamics.flow.velocity import Array
from theory import landscape
from theory.landscape.exact import Position
from theory.landscape.planes import is_interior, place
from theory.records import comparable

LEARNT = 0.1  # nats: once the loss is this small, the sign of beta1 tells the route
_FLAT = 1e-13  # of T |grad L| / (min(1, L) max(1, |theta|)): slopes fall with L, and rounding leaves less over


@comparable
class Point(NamedTuple):
    """theta (4,), T and the position; L and L - log T in nats; the gradient (4,) and the Hessian's eigenvalues (4,).

    kind: "critical point", "slope", or "plateau" where the slopes underflow. status: how the path of gradient flow
    ended at `t_end`; end (4,), end_loss: where; learning_time: when the loss fell to 0.1, NaN if never; leading_time:
    s* T, its leading order in T, None where the theory has none, for the reason in `no_leading_time`.
    """

    theta: Array
    n_tokens: float
    position: Position
    loss: float
    excess: float
    gradient: Array
    eigenvalues: Array
    kind: str
    status: Status
    t_end: float
    end: Array
    end_loss: float
    learning_time: float
    leading_time: float | None
    no_leading_time: str

    @property
    def route(self) -> str:
        """Where the path goes: "induction", "anti-induction", or "neither"."""
        if self.end_loss > LEARNT:
            return "neither"
        return "induction" if self.end[2] > 0 else "anti-induction"


def point(theta: ArrayLike, n_tokens: float, position: Position | str = None, t_end: float = 1e7) -> Point:
    """The point (alpha1, alpha2, beta1, beta2) of the landscape of T tokens; position as in `landscape.field`.

    Raises ValueError as `landscape.loss` and `gradient_flow` do.
    """
    start, where = np.asarray(theta, dtype=np.float64), place(position, n_tokens)
    loss = float(landscape.loss(*start, n_tokens, where))
    gradient = landscape.gradient(*start, n_tokens, where)
    path = gradient_flow(start[None], n_tokens, t_end, times=[t_end], levels=[LEARNT], position=where)
    end = path.theta[-1, 0]
    leading, why = _leading_time(start, n_tokens, where)
    return Point(
        start,
        float(n_tokens),
        where,
        loss,
        float(landscape.excess_loss(*start, n_tokens, where)),
        gradient,
        np.linalg.eigvalsh(landscape.hessian(*start, n_tokens, where)),
        _kind(start, gradient, n_tokens, loss),
        path.status[0],
        float(t_end),
        end,
        float(landscape.loss(*end, n_tokens, where)) if np.isfinite(end).all() else np.inf,
        float(path.level_times[0, 0]),
        leading,
        why,
    )


def _kind(theta: Array, gradient: Array, n_tokens: float, loss: float) -> str:
    if not gradient.any() and np.abs(theta).max() > 1:
        return "plateau"
    size = n_tokens * float(np.abs(gradient).max()) / max(1.0, float(np.abs(theta).max()))
    return "critical point" if size <= _FLAT * min(1.0, loss) else "slope"


def _leading_time(theta: Array, n_tokens: float, where: Position) -> tuple[float | None, str]:
    if not is_interior(where, n_tokens):
        return None, "it is known for an interior position only"
    try:
        return landscape.learning_time(theta[1], theta[2], n_tokens).value, ""
    except ValueError:
        return None, "from this alpha2 and beta1 it has no finite value"
