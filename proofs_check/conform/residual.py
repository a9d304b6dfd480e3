"""Value residuals: what each layer reads of the first one's values, and that the gradient goes back there."""

from __future__ import annotations

from itertools import accumulate

import numpy as np

from proofs_check.conform import reference
from proofs_check.conform.case import Case
from proofs_check.conform.check import RUNS, WIDTHS, Check

AXES = ("layer", "row", "token", "channel")
# Exact in every dtype.
FACTORS = ((0.5, 0.5), (1.0, 0.25), (0.25, 2.0), (0.0, 1.0), (1.0, 0.0), (-0.5, 1.5), (2.0, -1.0))


def _told(what, got, expected, values, own, first, mistakes=dict):
    layers, rows, length, width = values.shape
    told = f"{layers} layers, batch {rows}, {length} tokens, {width} channels, own {own:g}, first {first:g}, {what}"
    sizes = {"layers": layers, "rows": rows, "tokens": length, "channels": width}
    return Case(told, got, expected, AXES, mistakes=mistakes, sizes=sizes)


def _read(least, most=None):
    """What the layers from the least to the most read, counted from 1."""
    read = slice(least - 1, most)

    def case(given, values, own, first):
        def expected(own=own, first=first):
            return np.stack(reference.with_first([*values], own, first))[read]

        def mistakes():
            below = accumulate(values, lambda below, layer: own * layer + first * below)
            return {
                "the numbers of exchanged factors": expected(first, own),
                "the numbers with what the layer below read": np.stack([*below])[read],
                "the numbers of factors one half": expected(0.5, 0.5),
            }

        return _told(
            f"counted from layer {read.start}", lambda: np.stack(given.call([*values], own, first))[read],
            expected, values, own, first, mistakes,
        )  # fmt: skip

    return _sizes(case, least)


def _gradient(given, values, own, first):
    """Of a sum over what all layers read, each number with a weight of its own."""
    weights, of = given.normal(*values.shape), given.adapter

    def got():
        import torch

        held = [of.own(value).requires_grad_() for value in values]
        read = of.raw(given.subject, [x.clone() for x in held], own, first)
        total = sum((of.own(w) * out).sum() for w, out in zip(weights, read, strict=True))
        found = torch.autograd.grad(total, held, materialize_grads=True)
        return np.stack([gradient.double().numpy() for gradient in found])

    def expected():
        return np.concatenate([weights[:1] + first * weights[1:].sum(0), own * weights[1:]])

    return _told("gradient of a weighted sum", got, expected, values, own, first)


def _sizes(case, least):
    """Factors, numbers of layers, and shapes, one at a time."""

    def cases(given):
        for factors in FACTORS:
            yield case(given, given.normal(least, 2, 3, 4), *factors)
        for layers in range(least, 34):
            yield case(given, given.normal(layers, 2, 3, 4), *given.one_of(FACTORS))
        for length in RUNS:
            shape = given.between(least, 6), given.rows(length), length, given.one_of(WIDTHS)
            yield case(given, given.normal(*shape), *given.one_of(FACTORS))

    return cases


CHECKS = (
    Check("value_residual.first_layer", "the first layer reads its own values as they are", _read(1, 1)),
    Check("value_residual.factors", "the second reads own V_2 + first V_1, for any factors", _read(2, 2)),
    Check("value_residual.later_layers", "so do all later ones: V_1, not what the layer below read", _read(3)),
    Check(
        "value_residual.gradient",
        "the gradient reaches V_1 with the factor first, the others with the factor own",
        _sizes(_gradient, 2),
        backend="torch",
    ),
)
