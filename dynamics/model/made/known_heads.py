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

from dynamics.model.config import ModelConfig
from dynamics.model.decoder import InductionModel
from dynamics.model.made.known_heads_weights import Builder


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
