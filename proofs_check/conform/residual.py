"""Value residuals: what each layer reads of the first one's values, and that the gradient goes back there."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from proofs_check.conform import reference
from proofs_check.conform.case import Case
from proofs_check.conform.check import Check, Given
from proofs_check.conform.reference import Array

AXES = ("layer", "row", "token", "channel")
FACTORS = ((0.5, 0.5), (1.0, 0.25), (0.25, 2.0))  # exact in every dtype


def _values(given: Given, layers: int) -> list[Array]:
    return [given.normal(2, 3, 4) for _ in range(layers)]


def _case(given: Given, layers: int, factors: tuple[float, float], read: slice) -> Case:
    own, first = factors
    values = _values(given, layers)
    expected = np.stack(reference.with_first(values, own, first))[read]
    others = {
        "those of exchanged factors": np.stack(reference.with_first(values, first, own))[read],
        "those with what the layer below read": np.stack(_chained(values, own, first))[read],
        "those of factors one half": np.stack(reference.with_first(values, 0.5, 0.5))[read],
    }
    told = f"{layers} layers, own {own:g}, first {first:g}, counted from layer {read.start or 0}"
    return Case(told, lambda: _stacked(given.call(values, own, first), read), expected, AXES, others=others)


def _stacked(found: object, read: slice) -> object:
    return np.stack(list(found))[read] if isinstance(found, list | tuple | np.ndarray) else found


def _chained(values: list[Array], own: float, first: float) -> list[Array]:
    found = values[:1]
    for value in values[1:]:
        found.append(own * value + first * found[-1])
    return found


def _first(given: Given) -> Iterator[Case]:
    for layers in (1, 3):
        yield _case(given, layers, FACTORS[1], slice(0, 1))


def _second(given: Given) -> Iterator[Case]:
    for factors in FACTORS:
        yield _case(given, 2, factors, slice(1, 2))


def _later(given: Given) -> Iterator[Case]:
    for layers in (3, 5):
        yield _case(given, layers, FACTORS[1], slice(2, None))


def _gradient(given: Given) -> Iterator[Case]:
    """Of the sum of what the last layer reads, to the values of each layer."""
    for layers, (own, first) in ((2, FACTORS[1]), (4, FACTORS[2])):
        expected = np.zeros((layers, 2, 3, 4))
        expected[0], expected[-1] = first, own
        values = _values(given, layers)
        told = f"gradient of what layer {layers - 1} reads, own {own:g}, first {first:g}"
        yield Case(told, lambda v=values, o=own, f=first: _gradients(given, v, o, f), expected, AXES)


def _gradients(given: Given, values: list[Array], own: float, first: float) -> object:
    import torch

    held = [given.adapter.own(value).requires_grad_() for value in values]
    function = given.adapter.function(given.subject)
    assert function is not None
    total = function(held, own, first)[-1].sum()
    if not total.requires_grad:
        return np.zeros((len(held), *held[0].shape))
    found = torch.autograd.grad(total, held, allow_unused=True)
    return np.stack([np.zeros(x.shape) if g is None else g.double().numpy() for g, x in zip(found, held, strict=True)])


CHECKS = (
    Check("value_residual.first_layer", "the first layer reads its own values as they are", _first),
    Check("value_residual.factors", "the second reads own V_2 + first V_1, for any factors", _second),
    Check("value_residual.later_layers", "so do all later ones: V_1, not what the layer below read", _later),
    Check("value_residual.gradient", "the gradient reaches V_1 with the factor first", _gradient, backend="torch"),
)
