"""Learned positions of a model: tokens that stand elsewhere, and positions that training never reached."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import numpy as np
from numpy.typing import NDArray
from torch import Tensor, nn

from dynamics.heads.rows import longest
from dynamics.model.decoder import InductionModel
from dynamics.weights.families import FAMILIES

BAND = 4.0  # standard deviations of a row that was drawn
FEWEST = 8  # rows before the first that was never trained


def learned(model: nn.Module) -> Tensor | None:
    """The vectors that are added to the tokens' states, (positions, width); None without learned positions."""
    module, name = _held(model)
    table = getattr(module, name, None)
    return None if table is None else table.detach()[len(table) - longest(model) :]


def _held(model: nn.Module) -> tuple[nn.Module | None, str]:
    """The module that holds the table of positions, and its name there; OPT has rows before that of position 0."""
    if isinstance(model, InductionModel):
        return model, "positions"
    place = FAMILIES[model.config.model_type].positions
    return place and model.base_model.get_submodule(place), "weight"


@contextmanager
def moved(model: nn.Module, places: Mapping[int, int]) -> Iterator[None]:
    """Within, the token at each of these places has the learned position of another: {place: position}."""
    module, name = _held(model)
    own, found = getattr(module, name), learned(model)
    table = own.detach().clone()
    table[len(table) - len(found) :][list(places)] = found[list(places.values())]
    setattr(module, name, nn.Parameter(table, requires_grad=False))
    try:
        yield
    finally:
        setattr(module, name, own)


def untrained(model: nn.Module) -> int | None:
    """From which learned position on the model looks untrained (`untrained_from`); None also if none are learned."""
    table = learned(model)
    return None if table is None else untrained_from(table.double().cpu().numpy())


def untrained_from(table: NDArray[np.float64]) -> int | None:
    """The first p from which on all rows of a table (n, d) look as they were drawn, while those before it do not.

    Rows drawn independently, with entries of one variance, have ln ||P_i|| within a few 1/sqrt(2 d) of each other, and
    cos(P_i, P_{i-1}) within a few 1/sqrt(d) of 0. Training moves rows: neighbours become alike, and norms differ. A row
    looks drawn if both are within `BAND` of these deviations, the norm of the median of the last eighth of the rows.
    p leaves the fewest rows on the wrong side. At least 8 rows stand before it and an eighth of all behind it. Of the m
    from it on at least 95 % look drawn, and the mean of their cosines is within `BAND` of its deviation 1/sqrt(d m).
    Source: ours; the rates of false and missed alarms are measured in `tests/dynamics/sinks/test_positions.py`.
    Returns: p, or None where there is no such position, and in a table of fewer than 32 rows.
    """
    n, d = table.shape
    if n < 4 * FEWEST:
        return None
    norms = np.maximum(np.linalg.norm(table, axis=1, keepdims=True), np.finfo(float).tiny)
    near, logs = (table / norms * np.roll(table / norms, 1, axis=0)).sum(1), np.log(norms[:, 0])
    drawn = (abs(logs - np.median(logs[-(n // 8) :])) * np.sqrt(2 * d) < BAND) & (abs(near) * np.sqrt(d) < BAND)
    p = int(np.argmax(np.cumsum(1 - 2 * drawn))) + 1
    if not FEWEST <= p <= n - n // 8 or drawn[p:].mean() < 0.95:
        return None
    return p if abs(near[p + 1 :].mean()) * np.sqrt(d * (n - p - 1)) < BAND else None
