"""The value drain of a sink as a flow of two variables, with and without a value residual and weight decay.

A head attends with a = sigmoid(s) to a sink of value v_eff = v + v_1 and with 1 - a to the rest, whose mean value r is
centred with E||r||^2 = variance, and should put out nothing. v is learned, v_1 comes from the first layer and is fixed
(0 without a residual), s is the sink logit and mu the weight decay of v:

    F = (a^2 ||v_eff||^2 + (1 - a)^2 variance) / 2 + mu ||v||^2 / 2,
    ds/dt = a (1 - a) ((1 - a) variance - a ||v_eff||^2),    dv/dt = -a^2 v_eff - mu v.

A model for the claim of ResFormer, Section 1, that a value residual breaks the mutual reinforcement of sinks and
drains. Eq. 7 halves the sum, this model does not. What is drained is the sum: as it goes to 0, v goes to -v_1.
"""

from __future__ import annotations

import math

from numpy.typing import ArrayLike

from theory.checked import NONNEGATIVE, POSITIVE, SHARE, elementwise, real, reals, sized
from theory.lowering.digits import odds_share
from theory.value_residual.inputs import Array


@elementwise("logit", "variance", "decay")
@sized()
def drain_loss(value: ArrayLike, first_value: ArrayLike, logit: float, variance: float, decay: float = 0.0) -> float:
    """F as above, the decay with it.

    Args: value v and first_value v_1 (d,), zeros for a vanilla head; logit s; variance > 0; decay mu >= 0.
    Returns: a number >= 0. Raises ValueError for other shapes and numbers.
    """
    v, effective = _values(value, first_value)
    a, b = _weights(logit)
    mu = real("decay", decay, NONNEGATIVE)
    spread = real("variance", variance, POSITIVE)
    return float(a * a * (effective @ effective) + b * b * spread + mu * (v @ v)) / 2.0


@elementwise("logit", "variance", "decay")
@sized()
def drain_velocity(
    value: ArrayLike, first_value: ArrayLike, logit: float, variance: float, decay: float = 0.0
) -> tuple[float, Array]:
    """(ds/dt, dv/dt) = -grad F. Arguments and errors as `drain_loss`.

    Without a residual the sink grows while a ||v||^2 < (1 - a) variance, and v only shrinks.
    """
    v, effective = _values(value, first_value)
    a, b = _weights(logit)
    mu = real("decay", decay, NONNEGATIVE)
    pull = b * real("variance", variance, POSITIVE) - a * float(effective @ effective)
    return a * b * pull, -a * a * effective - mu * v


@elementwise("norm", "variance")
@sized()
def stationary_weight(norm: float, variance: float) -> float:
    """a = variance / (variance + ||v_eff||^2), where ds/dt = 0 for a given v_eff, and the minimum of F over a.

    Args: norm ||v_eff|| >= 0; variance > 0. Returns: in (0, 1], 1 for a drained value. Raises ValueError.
    """
    norm, variance = real("norm", norm, NONNEGATIVE), real("variance", variance, POSITIVE)
    return 1.0 if norm == 0.0 else float(odds_share(math.log(variance) - 2.0 * math.log(norm)))


@elementwise("weight", "decay")
@sized()
def drained_value(first_value: ArrayLike, weight: float, decay: float) -> Array:
    """v_eff = mu v_1 / (a^2 + mu), where dv/dt = 0 for a given a: 0 without decay, with a residual or not.

    Args: first_value v_1 (d,); weight a in (0, 1); decay mu >= 0. Returns: (d,). Raises ValueError.
    """
    first = _vector("first_value", first_value)
    a, mu = real("weight", weight, SHARE), real("decay", decay, NONNEGATIVE)
    return first * (mu / (a * a + mu))


@elementwise("norm", "logit", "variance", "time")
@sized()
def undecayed_norm_bound(norm: float, logit: float, variance: float, time: float) -> float:
    """||v_eff(t)|| <= e^{-a_0^2 t} ||v_eff(0)|| without decay, a_0 = min(a(0), `stationary_weight` of v_eff(0)).

    Without decay d v_eff/dt = -a^2 v_eff, so the norm falls and the stationary weight rises; a rises wherever it is
    below that, so it never falls below a_0. A value residual alone does not stop the drain: v goes to -v_1.
    Args: norm ||v_eff(0)|| >= 0; logit s(0); variance > 0; time t >= 0. Raises ValueError.
    """
    least = min(float(odds_share(real("logit", logit))), stationary_weight(norm, variance))
    return real("norm", norm) * math.exp(-least * least * real("time", time, NONNEGATIVE))


def _values(value: ArrayLike, first_value: ArrayLike) -> tuple[Array, Array]:
    v = _vector("value", value)
    return v, v + reals("first_value", first_value, shape=v.shape)


def _vector(name: str, value: ArrayLike) -> Array:
    found = reals(name, value)
    if found.ndim != 1 or not found.size:
        raise ValueError(f"{name} has shape {found.shape}: expected (d,)")
    return found


def _weights(logit: float) -> tuple[float, float]:
    """sigmoid(s) and 1 - sigmoid(s), each with its digits."""
    s = real("logit", logit)
    return float(odds_share(s)), float(odds_share(-s))
