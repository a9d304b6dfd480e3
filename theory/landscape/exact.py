"""Loss of the one-repeat sentence as numpy functions: every T >= 2 and every position.

Source: KV shifting, Theorem 3.4, Eq. 10 and Appendix C, with the corrections that `theory.landscape.symbolic` states;
the kernels are pinned to the 50-digit lowering of that module.

Arguments broadcast. `position` is None for an interior one (2 <= i <= T - 2, all alike), an integer 1..T for that one,
or "mean" for the average over 1..T-1, the law of the paper's generator.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Literal, NamedTuple

import numpy as np

from theory.checked import NONNEGATIVE, POSITIVE, Range, elementwise, index, real, reals, whole, wholes
from theory.checked import position as checked_position
from theory.landscape.fused import Interior
from theory.landscape.kernels import (
    Array,
    Weights,
    both_at,
    excess_at,
    excess_over_three,
    gradient_at,
    hessian_at,
    loss_at,
    weigh,
    weigh_printed,
)
from theory.records import comparable

Position = int | Literal["mean"] | None
Kernel = Callable[..., Array]

_BLOCK = 8192  # points: the arrays of one block stay in the cache
_FUSED = 100.0  # to parameters of this size no sum of exponentials comes near overflow
_MOST_TOKENS = 1e100  # slopes go with 1 / T^2 on the way


def _clean(alpha1, alpha2, beta1, beta2, n_tokens, position: Position) -> tuple[list[Array], Position]:
    """All numbers as arrays, n_tokens last, and the position as an int."""
    values = {"alpha1": alpha1, "alpha2": alpha2, "beta1": beta1, "beta2": beta2}
    arrays = [reals(name, value) for name, value in values.items()]
    if position is None:  # an interior one, for which T need not be whole
        return [*arrays, reals("n_tokens", n_tokens, Range(4.0))], None
    tokens = wholes("n_tokens", n_tokens, 2)
    return [*arrays, tokens], checked_position(position, int(tokens.min()) if tokens.size else None)


def _evaluate(kernel: Kernel, alpha1, alpha2, beta1, beta2, n_tokens, position: Position) -> Array:
    """The kernel on the broadcast arguments, by blocks of the first axis whose steps stay in the cache."""
    arrays, position = _clean(alpha1, alpha2, beta1, beta2, n_tokens, position)
    shape = np.broadcast_shapes(*(array.shape for array in arrays))
    with np.errstate(all="ignore"):
        if math.prod(shape) <= _BLOCK:
            return _finite(_at(kernel, arrays, position), "the parameters are too large")
        rows = max(1, _BLOCK // math.prod(shape[1:]))
        blocks = [_at(kernel, _part(arrays, shape, start, rows), position) for start in range(0, shape[0], rows)]
    return _finite(np.concatenate(blocks), "the parameters are too large")


def _part(arrays: list[Array], shape: tuple[int, ...], start: int, rows: int) -> list[Array]:
    """The arrays at the rows start .. start + rows of the first axis of their broadcast shape."""
    return [
        array[start : start + rows] if array.ndim == len(shape) and array.shape[0] > 1 else array for array in arrays
    ]


def _at(kernel: Kernel, arrays: list[Array], position: Position) -> Array:
    a1, a2, b1, b2, tokens = arrays
    if position == "mean":
        return _mean(kernel, a1, a2, b1, b2, tokens)
    kinds = _kinds(tokens, position)
    found = [(where, kernel(kind, weigh(a1, a2, tokens, kind == "end"), b1, b2, tokens)) for kind, where in kinds]
    value = found[0][1]
    for where, other in found[1:]:
        value = np.where(_widened(where, kernel), other, value)
    return value


def _finite(values: Array, why: str) -> Array:
    if not np.isfinite(values).all():
        raise ValueError(f"the result overflows: {why}")
    return values


def _kinds(tokens: Array, position: int | None) -> list[tuple[str, Array]]:
    """The kinds of position that occur, and for which n_tokens; doubles are compared as the whole numbers they are."""
    if position is None:
        return [("interior", tokens > 0)]
    end, last = (_equal(tokens, position + gap) for gap in (0, 1))
    rest = "first" if position == 1 else "interior"
    others = [(kind, where) for kind, where in (("last", last), ("end", end)) if where.any()]
    return others if (end | last).all() and others else [(rest, tokens > 0), *others]


def _equal(tokens: Array, number: int) -> Array:
    return (tokens == float(number)) & (int(float(number)) == number)


_EXTRA_AXES = {both_at: 1, gradient_at: 1, hessian_at: 2}


def _widened(values: Array, kernel: Kernel) -> Array:
    return values.reshape(values.shape + (1,) * _EXTRA_AXES.get(kernel, 0))


def _mean(kernel: Kernel, alpha1: Array, alpha2: Array, beta1: Array, beta2: Array, tokens: Array) -> Array:
    """Average over i = 1..T-1: both ends once, the T - 3 interior positions (all alike) by their number."""
    w = weigh(alpha1, alpha2, tokens, False)
    last = kernel("last", w, beta1, beta2, tokens)
    if (tokens == 2).all():
        return last
    first = kernel("first", w, beta1, beta2, tokens)
    inner = kernel("interior", w, beta1, beta2, np.maximum(tokens, 4.0))
    number = _widened(tokens, kernel)
    mean = np.where(number == 2.0, last, (first + last + (number - 3.0) * inner) / (number - 1.0))
    if kernel is excess_at and (tokens == 3).any():
        small = excess_over_three(w, beta1, beta2)
        mean = np.where((tokens == 3) & np.isfinite(small), small, mean)
    return mean


def loss(alpha1, alpha2, beta1, beta2, n_tokens, position: Position = None) -> Array:
    """Cross entropy of the successor, L = log sum_c count_c e^{D_c}, in nats, shape of the broadcast arguments.

    Valid when: n_tokens >= 2 and 1 <= position <= n_tokens; position None allows real n_tokens >= 4.
    Raises ValueError outside that domain and for numbers that are not finite.
    """
    return _evaluate(loss_at, alpha1, alpha2, beta1, beta2, n_tokens, position)


def excess_loss(alpha1, alpha2, beta1, beta2, n_tokens, position: Position = None) -> Array:
    """L - log T = log1p((1/T) sum_c count_c expm1(D_c)), without the cancellation of the subtraction.

    Same domain and errors as `loss`. Negative where the head does better than a uniform guess.
    """
    return _evaluate(excess_at, alpha1, alpha2, beta1, beta2, n_tokens, position)


def gradient(alpha1, alpha2, beta1, beta2, n_tokens, position: Position = None) -> Array:
    """dL / d(alpha1, alpha2, beta1, beta2), last axis 4; same domain and errors as `loss`."""
    return _evaluate(gradient_at, alpha1, alpha2, beta1, beta2, n_tokens, position)


def loss_and_gradient(alpha1, alpha2, beta1, beta2, n_tokens, position: Position = None) -> tuple[Array, Array]:
    """`loss` and `gradient` from one evaluation; same domain and errors.

    At an interior position, for parameters up to 100 in size and T up to 1e100, the slopes are right to rounding of
    their usual size; where they nearly vanish, `gradient` keeps more of their digits.
    """
    if position is None:
        arrays, _ = _clean(alpha1, alpha2, beta1, beta2, n_tokens, position)
        small = all(np.abs(array).max(initial=0.0) <= _FUSED for array in arrays[:4])
        if small and arrays[4].max(initial=0.0) <= _MOST_TOKENS:
            return _fused(np.broadcast_arrays(*arrays))
    found = _evaluate(both_at, alpha1, alpha2, beta1, beta2, n_tokens, position)
    return found[..., 0], found[..., 1:]


def _fused(arrays: Sequence[Array]) -> tuple[Array, Array]:
    """Loss and gradient at an interior position, by blocks of points."""
    *theta, tokens = (array.reshape(-1) for array in arrays)
    loss, gradient = np.empty(tokens.size), np.empty((4, tokens.size))
    state, engine = np.empty((4, 0)), Interior(tokens[:0])
    for start in range(0, tokens.size, _BLOCK):
        part = slice(start, start + _BLOCK)
        if not np.array_equal(tokens[part], engine.tokens):  # else the scratch of the block before serves again
            engine, state = Interior(tokens[part]), np.empty((4, tokens[part].size))
        for row, values in zip(state, theta, strict=True):
            row[:] = values[part]
        engine.velocity(state, gradient[:, part])
        engine.last_loss(loss[part])
    np.negative(gradient, out=gradient)
    return loss.reshape(arrays[0].shape), np.moveaxis(gradient.reshape(4, *arrays[0].shape), 0, -1)


def hessian(alpha1, alpha2, beta1, beta2, n_tokens, position: Position = None) -> Array:
    """Second derivatives of L in the order (alpha1, alpha2, beta1, beta2), last two axes (4, 4).

    Same domain and errors as `loss`.
    """
    return _evaluate(hessian_at, alpha1, alpha2, beta1, beta2, n_tokens, position)


def logits(alpha1, alpha2, beta1, beta2, n_tokens: int, position: int | None = None) -> Array:
    """The T logits in token order, last axis T; position None stands for i = 2 (and needs T >= 4).

    Raises ValueError as `loss` does.
    """
    size = whole("n_tokens", n_tokens, 4 if position is None else 2)
    place = 2 if position is None else index("position", position, 1, size)
    (a1, a2, b1, b2, tokens), _ = _clean(alpha1, alpha2, beta1, beta2, size, place)
    weights = weigh(a1, a2, tokens, place == size)
    return np.stack(np.broadcast_arrays(*_logit_rows(weights, b1, b2, size, place)), axis=-1)


def _logit_rows(w: Weights, beta1: Array, beta2: Array, size: int, place: int) -> list[Array]:
    """Logit of token k is beta1 (its own weights) + beta2 (the weights one place later)."""
    keys = [w.o] * (size + 2)  # 1-based positions 1 .. T + 1
    keys[place], keys[place + 1], keys[size + 1] = w.a, w.b, w.b if place == size else w.a
    rows = []
    for token in range(1, size + 1):
        own = keys[token] + keys[size + 1] if token == place else keys[token]
        rows.append(beta1 * own + beta2 * keys[token + 1])
    return rows


@comparable
class ScaledTime(NamedTuple):
    """s* within `quadrature_error` of `value`, both floats; the bound is proved."""

    value: float
    quadrature_error: float


@comparable
class LearningTime(NamedTuple):
    """The time that gradient flow takes to learn, to leading order in T, and two independent errors.

    value is s* T. Ball arithmetic proves |value - s* T| <= quadrature_error. finite_size_error would bound the
    difference of s* T and the time of the flow at this T; it is None, since no bound is known.
    """

    value: float
    quadrature_error: float
    finite_size_error: float | None = None


@elementwise("alpha2", "beta1", "sigma")
def scaled_learning_time(alpha2: float, beta1: float, sigma: float = 1.0) -> ScaledTime:
    """s*(alpha2, beta1): gradient flow near log T learns at time t = s* T (1 + o(1)) as T grows.

    s* = sigma^2 int_{a0}^oo e^{-a} da / sqrt(beta1^2 + 2 sigma^2 (a + e^{-a} - a0 - e^{-a0})), a0 = alpha2 / sigma, for
    beta1 > 0; not in the papers. `sigma` divides the scores. Valid when the start goes to induction: for sigma = 1,
    beta1 > -sgn(alpha2) sqrt(2 (alpha2 + e^{-alpha2} - 1)), which holds on the box but at (0, 0).
    Raises ValueError for any other start, for sigma <= 0, for numbers that are not finite and where s* overflows.
    """
    from theory.landscape.blow_up import (
        scaled_blow_up_time,  # flint and sympy: half a second that the kernels can spare
    )

    start = real("alpha2", alpha2), real("beta1", beta1), real("sigma", sigma, POSITIVE)
    return ScaledTime(*_rounded(scaled_blow_up_time(*map(Fraction, start)), 1.0))


@elementwise("alpha2", "beta1", "n_tokens", "sigma")
def learning_time(alpha2: float, beta1: float, n_tokens: float, sigma: float = 1.0) -> LearningTime:
    """s* T, the leading order of the time in which gradient flow learns induction; s* as in `scaled_learning_time`.

    The flow at finite T needs longer by an amount that grows more slowly than T. No bound on it is proved (from below,
    `theory.landscape.learning_order.earliest`, while the flow stays in a region). Measured from alpha = beta = (.5,
    .5), the time to a loss of 0.1 exceeds s* T by 19.8, 21.1, 24.0, 26.9 and 29.7 at T = 32, 1e2, 1e3, 1e4 and 1e5: 97,
    33, 3.8, .42 and .047 %. From a start close to the boundary of the two routes a short sentence may not be learned at
    all. Valid when: as `scaled_learning_time`, and n_tokens >= 4. Raises ValueError otherwise.
    """
    from theory.landscape.blow_up import scaled_blow_up_time

    tokens, start = real("n_tokens", n_tokens, Range(4.0)), (real("alpha2", alpha2), real("beta1", beta1))
    ball = scaled_blow_up_time(*map(Fraction, start), Fraction(real("sigma", sigma, POSITIVE)))
    return LearningTime(*_rounded(ball, tokens))


def _rounded(ball, factor: float) -> tuple[float, float]:
    """The middle of a ball times a factor as a float, and a bound on its distance from any point of the product."""
    from theory.lowering.precision import working

    with working(200):
        product = ball * factor
        value = float(product.mid())
        if not math.isfinite(value):
            raise ValueError("the learning time is too large for a float")
        return value, float(np.nextafter(float((product - value).abs_upper()), np.inf))


def printed_loss(alpha1, alpha2, beta1, beta2, rest_scores, rest_logits) -> Array:
    """Eq. 10 as printed; its one O(T) is `rest_scores` inside S and `rest_logits` in the denominator.

    It differs from `loss` in e^{alpha2} where e^{alpha1} belongs (tokens i - 1 and T).
    Valid when both rests are >= 0. Raises ValueError otherwise.
    """
    return _printed(loss_at, alpha1, alpha2, beta1, beta2, rest_scores, rest_logits)


def printed_loss_and_gradient(alpha1, alpha2, beta1, beta2, rest_scores, rest_logits) -> tuple[Array, Array]:
    """`printed_loss` and its derivatives in the four parameters, last axis 4; same domain and errors."""
    found = _printed(both_at, alpha1, alpha2, beta1, beta2, rest_scores, rest_logits)
    return found[..., 0], found[..., 1:]


def _printed(kernel: Kernel, alpha1, alpha2, beta1, beta2, rest_scores, rest_logits) -> Array:
    values = {"alpha1": alpha1, "alpha2": alpha2, "beta1": beta1, "beta2": beta2}
    a1, a2, b1, b2 = (reals(name, value) for name, value in values.items())
    scores, rest = reals("rest_scores", rest_scores, NONNEGATIVE), reals("rest_logits", rest_logits, NONNEGATIVE)
    with np.errstate(all="ignore"):
        found = kernel("printed", weigh_printed(a1, a2, scores), b1, b2, rest)
    return _finite(found, "betas too large, or alphas below -700 are all of the partition")
