"""Reading from other layers: the values of the first layer or of an anchor, or the keys and values of another layer.

The kinds are the records of `dynamics.model.config`; layers count from 0 here, from 1 in the papers. `Earlier` is all
that goes from layer to layer in a forward pass besides the states: nothing in it is detached.
"""

from __future__ import annotations

import torch
from torch import Tensor

from dynamics.model.config import Borrowed, CrossLayer, Dense, Identity, Neutreno, Own, Residual, Shared, Values


class Earlier:
    """What later layers of one forward pass read of earlier ones; made anew for each pass.

    first: values of the first layer, or of the last anchor, (batch, length, kv_heads, head_dim); total, count: the sum
    of those of all layers so far, or of what is borrowed; borrowed: queries, keys or values as projected for the next
    layers, (batch, length, heads, head_dim); key, value: what a layer attends over, (batch, kv_heads, keys, head_dim);
    rows: an anchor's values of all tokens as its cache keeps them.
    """

    def __init__(self) -> None:
        self.first: Tensor | None = None
        self.total: Tensor | None = None
        self.count = 0
        self.borrowed: Tensor | None = None
        self.key: Tensor | None = None
        self.value: Tensor | None = None
        self.rows: Tensor | None = None

    def note_values(self, values: Values, layer: int, own: Tensor) -> None:
        """Keep a layer's own values where a later one will read them."""
        if layer == 0 or (isinstance(values, Shared) and layer in values.anchors):
            self.first = own
        if isinstance(values, Identity):
            self._add(own)

    def note_projected(self, values: Borrowed, layer: int, found: Tensor) -> None:
        """Keep what a layer has projected, or read in its place, where a later one will borrow it."""
        if values.source == "mean":
            self._add(found)
            self.borrowed = self.total / self.count
        elif values.source == "previous" or layer == 0:
            self.borrowed = found

    def _add(self, own: Tensor) -> None:
        self.total = own if self.total is None else self.total + own
        self.count += 1

    def note_keys(self, values: Values, layer: int, key: Tensor, value: Tensor) -> None:
        """Keep what a layer attends over where a later one attends over it too."""
        anchor = isinstance(values, Shared) and values.keys and layer in values.anchors
        if anchor or (isinstance(values, CrossLayer) and (layer == 0 or values.source == "previous")):
            self.key, self.value = key, value


def reads(values: Values, layer: int) -> bool:
    """Whether a layer reads anything of earlier ones."""
    if isinstance(values, Own | Dense) or layer == 0:
        return False
    if isinstance(values, Residual | Borrowed):
        return values.layers is None or layer in values.layers
    return not projects(values, layer) if isinstance(values, Shared) else True


def projects(values: Values, layer: int) -> bool:
    """Whether a layer has values of its own."""
    return not isinstance(values, Shared) or layer in values.anchors


def projects_keys(values: Values, layer: int) -> bool:
    """Whether a layer has keys of its own."""
    return projects(values, layer) or not values.keys


def borrows(values: Values, layer: int, name: str) -> bool:
    """Whether a layer's queries, keys or values are partly, or all, projections of a layer below it."""
    return isinstance(values, Borrowed) and values.of == name and reads(values, layer)


def has_projection(values: Values, layer: int, name: str) -> bool:
    """Whether a layer projects queries, keys or values of its own."""
    if borrows(values, layer, name):
        return values.own != 0
    return {"query": True, "key": projects_keys(values, layer), "value": projects(values, layer)}[name]


def with_borrowed(values: Values, layer: int, name: str, own: Tensor | None, earlier: Earlier | None) -> Tensor:
    """Queries, keys or values, (batch, length, heads, head_dim), before they are shifted; own: None where own is 0."""
    if not isinstance(values, Borrowed) or values.of != name:
        return own
    found = own
    if reads(values, layer):
        found = values.other * earlier.borrowed
        found = found if own is None else values.own * own + found
    if earlier is not None:
        earlier.note_projected(values, layer, found if own is None else own)
    return found


def shifts(values: Values, layer: int) -> bool:
    """Whether a layer's own coefficients, where values are shifted at all, mix the values that it reads."""
    return projects(values, layer) or values.order == "raw"


def shifted_first(values: Values) -> bool:
    """Whether values are shifted before they are added or shared."""
    return getattr(values, "order", "raw") == "shifted"


def combined(
    values: Values, layer: int, own: Tensor | None, earlier: Earlier | None, factors: Tensor | None = None
) -> Tensor:
    """The values that A_n mixes, (batch, length, kv_heads, head_dim), from the layer's own and earlier ones.

    factors: (2,), or (models, 2), the learnt lambda1 and lambda2.
    """
    if not reads(values, layer) or not isinstance(values, Residual | Shared):
        return own
    if isinstance(values, Shared):
        return earlier.first
    if factors is None:
        return values.lambda1 * own + values.lambda2 * earlier.first
    each = factors.reshape(-1, 2).repeat_interleave(len(own) // max(1, factors.numel() // 2), dim=0)
    lambda1, lambda2 = each.to(own.dtype)[..., None, None, None].unbind(1)
    return lambda1 * own + lambda2 * earlier.first


def added(values: Values, layer: int, own: Tensor | None, earlier: Earlier | None) -> Tensor | None:
    """What is added to the output of the mixing, token by token, (batch, length, kv_heads, head_dim); None: nothing."""
    if layer == 0 or not isinstance(values, Neutreno | Identity):
        return None
    return values.lam * (earlier.first - own) if isinstance(values, Neutreno) else earlier.total / earlier.count


def with_source(
    values: Values, layer: int, key: Tensor, value: Tensor, earlier: Earlier | None
) -> tuple[Tensor, Tensor]:
    """Keys and values that a layer attends over: its own, before those of another layer in cross-layer attention."""
    if not isinstance(values, CrossLayer) or layer == 0:
        return key, value
    return torch.cat([key, earlier.key], dim=2), torch.cat([value, earlier.value], dim=2)
