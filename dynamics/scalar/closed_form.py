"""The closed-form loss in torch, to be put under one's own optimiser: differentiable to any order, on any device."""

from __future__ import annotations

from functools import cache, reduce

import torch
from torch import Tensor

from theory.checked import Range, reals, whole
from theory.checked import position as checked_position
from theory.landscape import symbolic
from theory.landscape.exact import Position
from theory.lowering.numeric import numeric
from theory.symbols import alpha1, alpha2, beta1, beta2, n_tokens

_PARAMETERS = (alpha1, alpha2, beta1, beta2)
Number = Tensor | float


def landscape_loss(
    alpha1: Number, alpha2: Number, beta1: Number, beta2: Number, n_tokens: Number, position: Position = None
) -> Tensor:
    """Cross entropy of the successor, L = log sum_c count_c e^{D_c}, in nats: `theory.landscape.loss` as a tensor.

    alpha1, alpha2 mix a key with itself and with the one before, beta1, beta2 a value (KV shifting, Eq. 5).
    Args: the parameters and n_tokens broadcast; tensors keep dtype and device, numbers are doubles. position: None for
        an interior one, with real n_tokens >= 4, possibly a tensor; 1..T or "mean", with one whole T >= 2.
    Gradients reach the parameters, not n_tokens. In double the value agrees with theory's to rounding.
    Raises: ValueError for n_tokens or position outside of these, and for tensors that are complex or of truth values.
    """
    values = alpha1, alpha2, beta1, beta2
    if position is None:
        tensors = [value for value in values if torch.is_tensor(value)]
        floats = bool(tensors) and all(value.is_floating_point() for value in tensors)
        kind = reduce(torch.promote_types, [value.dtype for value in tensors]) if floats else torch.float64
        numbers = n_tokens.detach().cpu() if torch.is_tensor(n_tokens) else n_tokens
        tokens = torch.as_tensor(reals("n_tokens", numbers, Range(4.0)), dtype=kind)
        return _loss(_interior(), *values, tokens.to(tensors[0].device) if tensors else tokens)
    size = whole("n_tokens", n_tokens, 2)
    place = checked_position(position, size)
    if place != "mean":
        return _loss(_at(size, place), *values)
    number = {1: 1, size - 1: 1} if size < 4 else {1: 1, 2: size - 3, size - 1: 1}  # positions 2..T-2 are alike
    return sum(count * _loss(_at(size, i), *values) for i, count in number.items()) / (size - 1)


def _loss(terms, *values: Number) -> Tensor:
    """log sum_c count_c e^{D_c}; a class of no tokens weighs nothing."""
    counts, gaps = (term(*values) for term in terms)
    return torch.logsumexp(gaps + counts.detach().log(), dim=-1)


@cache
def _interior():
    return _lowered(symbolic.interior_table(), (*_PARAMETERS, n_tokens))


@cache
def _at(tokens: int, position: int):
    return _lowered(symbolic.position_table(tokens, position), _PARAMETERS)


def _lowered(table: symbolic.Table, args):
    target = table.classes[0].numerator
    counts = [c.count for c in table.classes]
    gaps = [(c.numerator - target) / table.partition for c in table.classes]
    return numeric(counts, args, "torch"), numeric(gaps, args, "torch")
