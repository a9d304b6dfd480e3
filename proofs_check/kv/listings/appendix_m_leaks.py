"""What the listing of Appendix M gives beyond what is meant, and what that is: documents in one row, pads, beams."""

from collections.abc import Sequence
from typing import Any

import torch

from dynamics.model.listing_m import Flaw, ListingDecoder, listing_convolution
from dynamics.model.shift import shift_mix
from proofs_check.kv.listings.appendix_m_checks import squares

Pair = tuple[int, int]  # alpha2, alpha1
PAIRS = ((2, 5), (-3, 4), (1, 0), (1, 1))


def cases(name: str, options: Sequence[Any]) -> list[dict[str, Any]]:
    return [{name: option, "weights": pair} for option in options for pair in PAIRS]


def _keys(batch: int, length: int) -> torch.Tensor:
    return squares(batch, length, 1, 2, start=2)


def packed(lengths: Pair, weights: Pair, knows_the_documents: bool = False) -> list:
    """The mixed keys of the second of two documents in one row, less those it has alone."""
    pair, keys = torch.tensor([weights]), _keys(1, sum(lengths))
    mixed = listing_convolution(keys, pair)
    if knows_the_documents:
        documents = torch.tensor([[0] * lengths[0] + [1] * lengths[1]])
        mixed = shift_mix(keys.double(), pair.flip(1).double(), segment_ids=documents).long()
    return (mixed[:, lengths[0] :] - listing_convolution(keys[:, lengths[0] :], pair)).tolist()


def last_key(lengths: Pair, weights: Pair) -> list:
    """alpha2 times the last key of the first document at its first token, 0 at the others."""
    found = torch.zeros(1, lengths[1], 1, 2, dtype=torch.int64)
    found[:, 0] = weights[0] * _keys(1, sum(lengths))[:, lengths[0] - 1]
    return found.tolist()


def padded(pads: int, weights: Pair, pads_are_erased: bool = False) -> list:
    """The mixed keys of a document behind pads, less those it has alone."""
    pair, row = torch.tensor([weights]), _keys(1, pads + 3)
    if pads_are_erased:
        row[:, :pads] = 0
    return (listing_convolution(row, pair)[:, pads:] - listing_convolution(row[:, pads:], pair)).tolist()


def pad_key(pads: int, weights: Pair) -> list:
    """alpha2 times the last pad's key at its first token, 0 at the others."""
    return last_key((pads, 3), weights)


def reordered(order: tuple[int, ...], weights: Pair, last_k_is_reordered: bool = False) -> list:
    """The next mixed keys where beams are reordered and last_k is not, less those of the full pass."""
    pair, keys = torch.tensor([weights]), _keys(len(order), 4)
    decoder, moved = ListingDecoder(pair, Flaw.NONE), keys[list(order)]
    decoder(keys[:, :3])
    if last_k_is_reordered:
        decoder.last = moved[:, 2:3]
    return (decoder(moved[:, 3:]) - listing_convolution(moved, pair)[:, 3:]).tolist()


def stale_key(order: tuple[int, ...], weights: Pair) -> list:
    """alpha2 times the stale last key less the beam's own."""
    keys = _keys(len(order), 4)
    return (weights[0] * (keys - keys[list(order)])[:, 2:3]).tolist()
