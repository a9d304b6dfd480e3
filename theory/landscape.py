"""Loss of the one-repeat sentence as numpy kernels: every T >= 2 and every position, without cancellation or overflow.

Source: KV shifting, Theorem 3.4, Eq. 10 and Appendix C, with the corrections that `theory.landscape_symbolic` states;
these kernels are pinned to the 50-digit lowering of that module. With E1 = e^{alpha1} - 1, E2 = e^{alpha2} - 1 and
E12 = e^{alpha1 + alpha2} - 1 the partition and both coefficients of each logit difference
D_c = l_c - l_target = (u_c beta1 + v_c beta2) / S are affine in (1, E1, E2, E12).

Arguments broadcast. `position` is None for an interior one (2 <= i <= T - 2, all alike), an integer 1..T for that one,
or "mean" for the average over 1..T-1, the law of the paper's generator.
"""

from functools import reduce
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]
Position = int | Literal["mean"] | None
Place = int | Array | None

_OVERFLOW = 600.0  # e^600 is finite with room for the sums


class _Form(NamedTuple):
    """Coefficients of (1, E1, E2, E12)."""

    one: ArrayLike = 0.0
    e1: ArrayLike = 0.0
    e2: ArrayLike = 0.0
    e12: ArrayLike = 0.0


class _Class(NamedTuple):
    """`count` tokens whose logit exceeds the target's by (u beta1 + v beta2) / S."""

    count: ArrayLike
    u: _Form
    v: _Form


class _Basis(NamedTuple):
    """E1, E2, E12 and e^{alpha1}, e^{alpha2}, e^{alpha1+alpha2}, all times e^{-shift}; `one` is e^{-shift}."""

    one: Array
    e1: Array
    e2: Array
    e12: Array
    a: Array
    b: Array
    ab: Array

    def value(self, form: _Form) -> Array:
        return form.one * self.one + form.e1 * self.e1 + form.e2 * self.e2 + form.e12 * self.e12

    def along_alpha1(self, form: _Form) -> Array:
        return form.e1 * self.a + form.e12 * self.ab

    def along_alpha2(self, form: _Form) -> Array:
        return form.e2 * self.b + form.e12 * self.ab


def _basis(alpha1: Array, alpha2: Array, end: Array | bool) -> _Basis:
    """`end` marks where i = T; only there does e^{alpha1 + alpha2} occur (elsewhere it could overflow for nothing)."""
    both = np.where(end, alpha1 + alpha2, 0.0)
    shift = np.maximum(np.maximum(np.maximum(alpha1, alpha2), both) - _OVERFLOW, 0.0)
    one, a, b, ab = np.exp(-shift), np.exp(alpha1 - shift), np.exp(alpha2 - shift), np.exp(both - shift)
    minus_one = [
        np.where(shift > 0, scaled - one, np.expm1(np.minimum(power, _OVERFLOW)))
        for scaled, power in ((a, alpha1), (b, alpha2), (ab, both))
    ]
    return _Basis(one, *minus_one, a, b, ab)


def _table(n_tokens: Array, position: Place) -> tuple[_Form, list[_Class]]:
    """The partition S and the classes other than the target."""
    total = n_tokens + 1.0
    if position is None:
        return _Form(total, 2.0, 1.0), [
            _Class(1.0, _Form(1.0, 2.0, -1.0), _Form(0.0, 0.0, 1.0)),
            _Class(2.0, _Form(0.0, 0.0, -1.0), _Form(0.0, 1.0)),
            _Class(n_tokens - 4.0, _Form(0.0, 0.0, -1.0), _Form()),
        ]
    end = position == n_tokens
    last = np.where(position == n_tokens - 1.0, 1.0, 0.0)
    edges = np.where(end, 1.0, (position >= 2) + np.where(position <= n_tokens - 2.0, 1.0, 0.0))
    here = np.where(end, 0.0, 1.0)
    # where i = T the repeated token is the target, with its own forms; `here` and `end` switch between the two
    other_u = _Form(-1.0 * end, -1.0 * end, -1.0 * here, -1.0 * end)
    return _Form(total, 1.0 + here, here, 1.0 * end), [
        _Class(here, _Form(1.0, 2.0, -1.0), _Form(0.0, -last, 1.0)),
        _Class(edges, other_u, _Form(0.0, np.where(end, 1.0, 1.0 - last), 0.0, -1.0 * end)),
        _Class(n_tokens - 1.0 - here - edges, other_u, _Form(0.0, -last, 0.0, -1.0 * end)),
    ]


def _clean(*arguments: ArrayLike) -> list[Array]:
    arrays = [np.asarray(argument, dtype=np.float64) for argument in arguments]
    for array in arrays:
        if not np.isfinite(array).all():
            raise ValueError("alpha1, alpha2, beta1, beta2 and n_tokens must be finite numbers")
    return arrays


def _check_tokens(n_tokens: Array, position: Position) -> None:
    if position is None:
        if (n_tokens < 4).any():
            raise ValueError(f"an interior position needs n_tokens >= 4, got {np.min(n_tokens):g}")
        return
    if (n_tokens != np.floor(n_tokens)).any() or (n_tokens < 2).any():
        raise ValueError(f"n_tokens must be a whole number >= 2 at a given position, got {np.min(n_tokens):g}")
    if position == "mean":
        return
    if isinstance(position, bool) or not isinstance(position, int | np.integer):
        raise ValueError(f'position must be None, "mean" or a whole number, got {position!r}')
    if position < 1 or (position > n_tokens).any():
        raise ValueError(f"position must lie in 1..n_tokens, got {position} with n_tokens {np.min(n_tokens):g}")


def _differences(basis: _Basis, beta1: Array, beta2: Array, tokens: Array, position: Place):
    """The partition, and (count, D, class) of each class other than the target."""
    form, classes = _table(tokens, position)
    partition = basis.value(form)
    rows = [(c.count, (basis.value(c.u) * beta1 + basis.value(c.v) * beta2) / partition, c) for c in classes]
    return form, partition, rows


def _largest(rows) -> Array:
    """The largest D_c of a class that has members, at least 0 (the target's own)."""
    return reduce(np.maximum, [np.where(np.greater(count, 0), np.maximum(d, 0.0), 0.0) for count, d, _ in rows])


def _loss_at(basis: _Basis, beta1: Array, beta2: Array, tokens: Array, position: Place) -> Array:
    _, _, rows = _differences(basis, beta1, beta2, tokens, position)
    top = _largest(rows)
    rest = sum(count * np.exp(np.minimum(d - top, 0.0)) for count, d, _ in rows)
    return top + np.log1p(np.expm1(-top) + rest)


def _excess_at(basis: _Basis, beta1: Array, beta2: Array, tokens: Array, position: Place) -> Array:
    _, _, rows = _differences(basis, beta1, beta2, tokens, position)
    mean = sum(count * np.expm1(np.minimum(d, 1.0)) for count, d, _ in rows) / tokens
    near = (np.abs(mean) < 0.5) & (_largest(rows) < 1.0)
    far = _loss_at(basis, beta1, beta2, tokens, position) - np.log(tokens)
    return np.where(near, np.log1p(np.where(near, mean, 0.0)), far)


def _gradient_at(basis: _Basis, beta1: Array, beta2: Array, tokens: Array, position: Place) -> Array:
    form, partition, rows = _differences(basis, beta1, beta2, tokens, position)
    top = _largest(rows)
    weights = [count * np.exp(np.minimum(d - top, 0.0)) for count, d, _ in rows]
    total = np.exp(-top) + sum(weights)
    parts = np.zeros((4, *np.broadcast(partition, beta1, beta2).shape))
    for weight, (_, d, c) in zip(weights, rows, strict=True):
        share = weight / total / partition
        du1, dv1, ds1 = basis.along_alpha1(c.u), basis.along_alpha1(c.v), basis.along_alpha1(form)
        du2, dv2, ds2 = basis.along_alpha2(c.u), basis.along_alpha2(c.v), basis.along_alpha2(form)
        parts[0] += share * (du1 * beta1 + dv1 * beta2 - d * ds1)
        parts[1] += share * (du2 * beta1 + dv2 * beta2 - d * ds2)
        parts[2] += share * basis.value(c.u)
        parts[3] += share * basis.value(c.v)
    return np.moveaxis(parts, 0, -1)


def _evaluate(kernel, alpha1, alpha2, beta1, beta2, n_tokens, position: Position) -> Array:
    a1, a2, b1, b2, tokens = _clean(alpha1, alpha2, beta1, beta2, n_tokens)
    _check_tokens(tokens, position)
    basis = _basis(a1, a2, position == tokens if isinstance(position, int | np.integer) else False)
    if position != "mean":
        return kernel(basis, b1, b2, tokens, position)
    return _mean(kernel, basis, b1, b2, tokens)


def _mean(kernel, basis: _Basis, beta1: Array, beta2: Array, tokens: Array) -> Array:
    """Average over i = 1..T-1: both ends once, the T - 3 interior positions (all alike) by their number."""
    first = kernel(basis, beta1, beta2, tokens, 1)
    last = kernel(basis, beta1, beta2, tokens, tokens - 1.0)
    inner = kernel(basis, beta1, beta2, np.maximum(tokens, 4.0), None)
    number = tokens[..., None] if kernel is _gradient_at else tokens
    mean = (first + last + (number - 3.0) * inner) / (number - 1.0)
    return np.where(number == 2.0, first, mean)


def loss(alpha1, alpha2, beta1, beta2, n_tokens, position: Position = None) -> Array:
    """Cross entropy of the successor, L = log sum_c count_c e^{D_c}, in nats, shape of the broadcast arguments.

    Valid when: n_tokens >= 2 and 1 <= position <= n_tokens; position None allows real n_tokens >= 4.
    Raises ValueError outside that domain and for numbers that are not finite.
    """
    return _evaluate(_loss_at, alpha1, alpha2, beta1, beta2, n_tokens, position)


def excess_loss(alpha1, alpha2, beta1, beta2, n_tokens, position: Position = None) -> Array:
    """L - log T = log1p((1/T) sum_c count_c expm1(D_c)), without the cancellation of the subtraction.

    Same domain and errors as `loss`. Negative where the head does better than a uniform guess.
    """
    return _evaluate(_excess_at, alpha1, alpha2, beta1, beta2, n_tokens, position)


def gradient(alpha1, alpha2, beta1, beta2, n_tokens, position: Position = None) -> Array:
    """dL / d(alpha1, alpha2, beta1, beta2), last axis 4; same domain and errors as `loss`."""
    return _evaluate(_gradient_at, alpha1, alpha2, beta1, beta2, n_tokens, position)


def logits(alpha1, alpha2, beta1, beta2, n_tokens: int, position: int | None = None) -> Array:
    """The T logits in token order, last axis T; position None stands for i = 2 (and needs T >= 4).

    Raises ValueError as `loss` does.
    """
    a1, a2, b1, b2, tokens = _clean(alpha1, alpha2, beta1, beta2, n_tokens)
    _check_tokens(tokens, position)
    if tokens.ndim or tokens != np.floor(tokens):
        raise ValueError(f"logits need one whole n_tokens, got {n_tokens!r}")
    if position == "mean":
        raise ValueError('logits need one position, got "mean"')
    size, place = int(tokens), 2 if position is None else int(position)
    basis = _basis(a1, a2, place == size)
    form, _ = _table(tokens, place)
    scores = {"o": basis.one, "a": basis.a, "b": basis.b, "ab": basis.ab}
    weights = {name: score / basis.value(form) for name, score in scores.items()}
    return np.stack(np.broadcast_arrays(*_logit_rows(weights, b1, b2, size, place)), axis=-1)


def _logit_rows(weight: dict[str, Array], beta1: Array, beta2: Array, size: int, place: int) -> list[Array]:
    """Logit of token k is beta1 (its own weights) + beta2 (the weights one place later)."""
    scores = ["o"] * (size + 2)  # 1-based positions 1 .. T + 1
    scores[place], scores[place + 1], scores[size + 1] = "a", "b", "ab" if place == size else "a"
    rows = []
    for token in range(1, size + 1):
        own = weight[scores[token]]
        if token == place:
            own = own + weight[scores[size + 1]]
        after = weight[scores[token + 1]]
        rows.append(beta1 * own + beta2 * after)
    return rows


def printed_loss(alpha1, alpha2, beta1, beta2, rest_scores, rest_logits) -> Array:
    """Eq. 10 as printed; its one O(T) is `rest_scores` inside S and `rest_logits` in the denominator.

    It differs from `loss` in e^{alpha2} where e^{alpha1} belongs (tokens i - 1 and T).
    Valid when both rests are >= 0. Raises ValueError otherwise.
    """
    a1, a2, b1, b2, scores, rest = _clean(alpha1, alpha2, beta1, beta2, rest_scores, rest_logits)
    if (scores < 0).any() or (rest < 0).any():
        raise ValueError("rest_scores and rest_logits must be >= 0")
    partition = np.exp(a2) + 2 * np.exp(a1) + scores
    own, previous = np.exp(a1) / partition, np.exp(a2) / partition
    target = previous * b1 + b2 / partition
    edge, repeated = b1 / partition + b2 * previous, 2 * own * b1 + previous * b2
    return np.log1p(2 * np.exp(edge - target) + np.exp(repeated - target) + rest * np.exp(-target))
