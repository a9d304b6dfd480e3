"""Models made by hand, whose echo, induction and previous-token heads stand at known, random places.

A token is a residual vector (code, 1, room, rest): an orthonormal or random unit code, a constant, room for the code
of the token before, and random numbers. The whole residual stream is then turned by a random rotation, which RMSNorm
does not see. With logits so large that only the best keys count, a head is planted in a key-value group of its own by

    echo            q, k = code                          all copies, the token itself among them
    induction       q, k = code, keys shifted by one     the one-layer head of KV shifting, Theorem 3.3
    induction       q = code, k = room                   the second layer of Theorem 3.2; a previous-token head of
                                                         an earlier layer writes the code into the room
    previous        RoPE: q, k = const, with phases that make every fast pair agree at distance 1
                    ALiBi: q = code, k = -code, slope 8: the token itself is out, of the others the nearest wins

Under RoPE the codes use the slow pairs only. Without positions no previous-token head is planted. Decoys are planted
too: a head without a query (the highest entropy there is), under RoPE one that looks two tokens back, under ALiBi one
that looks at the token itself. All other heads have random queries, keys and mixtures. What a head writes goes in
random directions to the rest, but for the previous-token head's.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from dynamics.model.attention import KVShiftAttention
from dynamics.model.config import ModelConfig
from dynamics.model.decoder import InductionModel

LOGIT = 60.0  # of a match, at an input token's norm; what is written to the residual lowers it
STEEP = 8.0
REST, WRITTEN = 0.5, 0.1  # norms: of a token's random part, of what a head adds to it
NORM = 2.0 + REST**2  # squared, of an input token
DISTANCE = {"previous": 1, "decoy": 2}


class KnownModel(NamedTuple):
    """A float64 model and what its heads are, each (n_layers, n_heads) bool; no head is two things."""

    model: InductionModel
    echo: np.ndarray
    induction: np.ndarray
    previous: np.ndarray


def known_model(
    seed: int,
    *,
    vocab: int = 16,
    codes: int | None = None,
    length: int = 64,
    n_layers: int = 2,
    n_heads: int = 4,
    n_kv_heads: int = 4,
    position: str = "rope",
) -> KnownModel:
    """A random construction: places, kinds, codes, random heads and slopes are drawn.

    Args: codes, the dimension of the codes (default vocab, orthonormal), a multiple of 4; length, the longest prompt it
        is made for (it sets the rotary base and the largest slope of content heads); position, "rope", "alibi" or
        "none"; at least 2 layers, 4 heads and 2 key-value heads.
    Raises: ValueError for sizes other than these, or ALiBi without orthonormal codes (another token's match would
        outweigh the slope).
    """
    codes = vocab if codes is None else codes
    if codes < 8 or codes % 4 or codes > vocab:
        raise ValueError(f"codes must be a multiple of 4 in 8..{vocab}, got {codes}")
    if n_layers < 2 or n_heads < 4 or n_kv_heads < 2:
        raise ValueError(f"needs 2 layers, 4 heads, 2 key-value heads, got {n_layers}, {n_heads}, {n_kv_heads}")
    if position == "alibi" and codes != vocab:
        raise ValueError(f"ALiBi needs codes of dimension {vocab}, one for each token, got {codes}")
    config = ModelConfig.checked(
        {
            "vocab": vocab,
            "width": n_heads * (codes + (codes // 2 if position == "rope" else 0)),
            "n_heads": n_heads,
            "n_kv_heads": n_kv_heads,
            "n_layers": n_layers,
            "position": position,
            # A third of the pairs is fast; the others turn by 1/20 at most over the whole length.
            "rope_base": (20.0 * length) ** 3,
        }
    )
    rng = np.random.default_rng(seed)
    plan = _plan(rng, config)
    model = InductionModel(config, torch.Generator().manual_seed(seed)).double()
    with torch.no_grad():
        Builder(model, rng, codes, length).build(plan)
    kinds = np.full((n_layers, n_heads), "", dtype="<U9")
    for place, kind in plan.items():
        kinds[place] = kind
    return KnownModel(model, kinds == "echo", np.isin(kinds, ("shift", "second")), kinds == "previous")


def random_known_model(seed: int, vocab: int = 16, length: int = 64) -> KnownModel:
    """`known_model` of random sizes: 2 to 4 layers, 4 to 8 heads, all ways to group them, all three positions."""
    rng = np.random.default_rng((seed, 1))
    n_heads, n_kv_heads = ((4, 2), (4, 4), (6, 2), (6, 3), (6, 6), (8, 2), (8, 4), (8, 8))[rng.integers(8)]
    return known_model(
        seed,
        vocab=vocab,
        length=length,
        n_layers=int(rng.integers(2, 5)),
        n_heads=n_heads,
        n_kv_heads=n_kv_heads,
        position=("rope", "alibi", "none")[rng.integers(3)],
    )


def _plan(rng: np.random.Generator, config: ModelConfig) -> dict[tuple[int, int], str]:
    """Which head is what: a kind for one query head of each chosen key-value group."""
    group = config.n_heads // config.n_kv_heads
    free = [(layer, kv) for layer in range(config.n_layers) for kv in range(config.n_kv_heads)]
    free = [free[index] for index in rng.permutation(len(free))]
    plan = {}
    if config.position != "none":
        writer = next(place for place in free if place[0] < config.n_layers - 1)
        reader = next(place for place in free if place[0] > writer[0])
        plan = {writer: "previous", reader: "second"}
    kinds = ["echo", "shift", "flat", *rng.permutation(["echo", "shift"])[: rng.integers(3)]]
    if config.position != "none":
        kinds.insert(3, "decoy")
    plan |= dict(zip((place for place in free if place not in plan), kinds, strict=False))
    return {(layer, kv * group + int(rng.integers(group))): str(kind) for (layer, kv), kind in plan.items()}


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
