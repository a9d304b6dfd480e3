"""Value residuals: what each layer reads of the first one's values, and that the gradient goes back there."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np

from proofs_check.conform import reference
from proofs_check.conform.case import Case
from proofs_check.conform.check import RUNS, WIDTHS, Cases, Check, Given
from proofs_check.conform.reference import Array

AXES = ("layer", "row", "token", "channel")
# Exact in every dtype.
FACTORS = ((0.5, 0.5), (1.0, 0.25), (0.25, 2.0), (0.0, 1.0), (1.0, 0.0), (-0.5, 1.5), (2.0, -1.0))
One = Callable[[Given, Array, float, float], Case]


def _case(told: str, got: Callable[[], object], expected: Callable[[], Array], values: Array, own: float, first: float,
          mistakes: Callable[[], dict[str, Array]] = dict) -> Case:  # fmt: skip
    layers, rows, length, width = values.shape
    told = f"{layers} layers, batch {rows}, {length} tokens, {width} channels, own {own:g}, first {first:g}, {told}"
    sizes = {"layers": layers, "rows": rows, "tokens": length, "channels": width}
    return Case(told, got, expected, AXES, mistakes=mistakes, sizes=sizes)


def _read(read: slice, given: Given, values: Array, own: float, first: float) -> Case:
    def expected(own: float = own, first: float = first) -> Array:
        return np.stack(reference.with_first([*values], own, first))[read]

    def mistakes() -> dict[str, Array]:
        return {
            "those of exchanged factors": expected(first, own),
            "those with what the layer below read": np.stack(_chained(values, own, first))[read],
            "those of factors one half": expected(0.5, 0.5),
        }

    return _case(
        f"counted from layer {read.start}", lambda: _stacked(given.call([*values], own, first), read),
        expected, values, own, first, mistakes,
    )  # fmt: skip


def _stacked(found: object, read: slice) -> object:
    return np.stack(list(found))[read] if isinstance(found, list | tuple | np.ndarray) else found


def _chained(values: Array, own: float, first: float) -> list[Array]:
    found = [values[0]]
    for value in values[1:]:
        found.append(own * value + first * found[-1])
    return found


def _gradient(given: Given, values: Array, own: float, first: float) -> Case:
    """Of a sum over what all layers read, each number with a weight of its own."""
    weights = given.normal(*values.shape)

    def expected() -> Array:
        return np.concatenate([weights[:1] + first * weights[1:].sum(0), own * weights[1:]])

    told, got = "gradient of a weighted sum", lambda: _gradients(given, values, own, first, weights)
    return _case(told, got, expected, values, own, first)


def _gradients(given: Given, values: Array, own: float, first: float, weights: Array) -> object:
    import torch

    held = [given.adapter.own(value).requires_grad_() for value in values]
    read = given.adapter.raw(given.adapter.function(given.subject), [x.clone() for x in held], own, first)
    total = sum((given.adapter.own(w) * out).sum() for w, out in zip(weights, read, strict=True))
    found = torch.autograd.grad(total, held, allow_unused=True)
    return np.stack([np.zeros(x.shape) if g is None else g.double().numpy() for g, x in zip(found, held, strict=True)])


def _sizes(case: One, least: int) -> Cases:
    """Factors, numbers of layers, and shapes, one at a time."""

    def cases(given: Given) -> Iterator[Case]:
        for factors in FACTORS:
            yield case(given, given.normal(least, 2, 3, 4), *factors)
        for layers in range(least, 34):
            yield case(given, given.normal(layers, 2, 3, 4), *given.one_of(FACTORS))
        for length in RUNS:
            shape = given.between(least, 6), given.rows(length), length, given.one_of(WIDTHS)
            yield case(given, given.normal(*shape), *given.one_of(FACTORS))

    return cases


CHECKS = (
    Check("value_residual.first_layer", "the first layer reads its own values as they are",
          _sizes(partial(_read, slice(0, 1)), 1)),
    Check("value_residual.factors", "the second reads own V_2 + first V_1, for any factors",
          _sizes(partial(_read, slice(1, 2)), 2)),
    Check("value_residual.later_layers", "so do all later ones: V_1, not what the layer below read",
          _sizes(partial(_read, slice(2, None)), 3)),
    Check("value_residual.gradient", "the gradient reaches V_1 with the factor first, the others with the factor own",
          _sizes(_gradient, 2), backend="torch"),
)  # fmt: skip
