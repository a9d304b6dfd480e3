"""Writes planted and random heads into the weights of a model; what they are is said in `known_heads`."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from dynamics.model.attention import KVShiftAttention
from dynamics.model.decoder import InductionModel

LOGIT = 60.0  # of a match, at an input token's norm; what is written to the residual lowers it
STEEP = 8.0
REST, WRITTEN = 0.5, 0.1  # norms: of a token's random part, of what a head adds to it
NORM = 2.0 + REST**2  # squared, of an input token
DISTANCE = {"previous": 1, "decoy": 2}


class Builder:
    """Writes codes and heads into a model."""

    def __init__(self, model: InductionModel, rng: np.random.Generator, codes: int, length: int) -> None:
        self.model, self.rng, self.codes, self.length = model, rng, codes, length
        self.width = model.config.width
        self.head_dim = self.width // model.config.n_heads
        half = self.head_dim // 2
        self.fast = half - codes // 2  # pairs of the rotation that codes leave alone
        slow = torch.arange(self.fast, half)
        self.slots = torch.cat([slow, slow + half])  # where a code stands inside a head
        self.turn = self._orthonormal(self.width)

    def build(self, plan: dict[tuple[int, int], str]) -> None:
        vocab = self.model.config.vocab
        tokens = torch.zeros(vocab, self.width, dtype=torch.float64)
        tokens[:, : self.codes] = self._orthonormal(vocab) if vocab == self.codes else self._units(vocab, self.codes)
        tokens[:, self.codes] = 1.0
        tokens[:, 2 * self.codes + 1 :] = REST * self._units(vocab, self.width - 2 * self.codes - 1)
        self.model.embedding.copy_(tokens @ self.turn.T)
        for layer in range(len(self.model.blocks)):
            self._distract(layer)
        for (layer, head), kind in plan.items():
            self._plant(layer, head, kind)

    def _distract(self, layer: int) -> None:
        """Random heads of logits with a standard deviation of up to 3; all outputs into the rest."""
        attention = self.model.blocks[layer].attention
        spread = float(self.rng.uniform(0.1, 3.0))
        for linear, size in ((attention.q_proj, spread), (attention.k_proj, spread), (attention.v_proj, 1.0)):
            linear.weight.copy_(self._normal(*linear.weight.shape) * (size / self.width) ** 0.5)
        out = self._normal(self.width, self.width)
        out[: 2 * self.codes + 1] = 0.0
        attention.o_proj.weight.copy_(self.turn @ out * WRITTEN / (self.head_dim * self.width) ** 0.5)

    def _plant(self, layer: int, head: int, kind: str) -> None:
        attention = self.model.blocks[layer].attention
        kv = head // (attention.n_heads // attention.n_kv_heads)
        query, key = self._rows(attention.q_proj, head), self._rows(attention.k_proj, kv)
        if kind == "flat":
            query.zero_()
            return
        # (W_Q x).(W_K x') / sqrt(head_dim) is LOGIT for two equal codes of input tokens.
        size = (LOGIT * NORM / self.width) ** 0.5 * self.head_dim**0.25
        code, room = self._reader(0), self._reader(self.codes + 1)
        query.copy_(size * code)
        key.copy_(size * (room if kind == "second" else code))
        attention.alpha[kv] = torch.tensor([0.0, 1.0] if kind == "shift" else [1.0, 0.0])
        attention.beta[kv] = torch.tensor([1.0, 0.0])
        if attention.slopes is not None:
            attention.slopes[head] = float(self.rng.uniform(0.01, 0.1)) / self.length
        if kind in DISTANCE:
            self._look_back(attention, query, key, head, size, DISTANCE[kind])
        if kind == "previous":
            self._rows(attention.v_proj, kv).copy_(code)
            columns = slice(head * self.head_dim, (head + 1) * self.head_dim)
            attention.o_proj.weight[:, columns] = room.T * (NORM / self.width) ** 0.5

    def _look_back(
        self, attention: KVShiftAttention, query: Tensor, key: Tensor, head: int, size: float, distance: int
    ) -> None:
        """Turn a head into one that attends to the token so far back, under ALiBi 1 or, without a query, 0."""
        if attention.slopes is not None:
            key.neg_()
            query.mul_(distance == 1)
            attention.slopes[head] = STEEP
            return
        half = self.head_dim // 2
        pairs = torch.arange(self.fast, dtype=torch.float64)
        angles = distance * attention.rope_base ** (-pairs / half)
        query.zero_()
        key.zero_()
        one = size * self.turn[:, self.codes]
        key[: self.fast] = one
        query[: self.fast] = angles.cos()[:, None] * one
        query[half : half + self.fast] = -angles.sin()[:, None] * one

    def _reader(self, start: int) -> Tensor:
        """The rows of a head that bring residual coordinates start .. start + codes - 1 to the code's slots."""
        rows = torch.zeros(self.head_dim, self.width, dtype=torch.float64)
        rows[self.slots] = self.turn[:, start : start + self.codes].T
        return rows

    def _rows(self, linear: torch.nn.Linear, head: int) -> Tensor:
        return linear.weight[head * self.head_dim : (head + 1) * self.head_dim]

    def _normal(self, *shape: int) -> Tensor:
        return torch.from_numpy(self.rng.standard_normal(shape))

    def _units(self, number: int, size: int) -> Tensor:
        rows = self._normal(number, size)
        return rows / rows.norm(dim=1, keepdim=True)

    def _orthonormal(self, size: int) -> Tensor:
        return torch.linalg.qr(self._normal(size, size)).Q
