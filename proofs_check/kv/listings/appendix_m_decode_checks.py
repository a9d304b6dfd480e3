"""What the inference listings of Appendix M give, in whole numbers: a prompt is decoded from, in chunks."""

import torch
from torch import Tensor
from torch.nn.functional import scaled_dot_product_attention

from dynamics.model.listing_m import Flaw, ListingDecoder, listing_convolution
from proofs_check.evidence.margin import Margin, apart
from proofs_check.evidence.tolerances import VISIBLE
from proofs_check.kv.listings.appendix_m_checks import squares

Chunks, Weights = tuple[int, ...], tuple[int, int]


def _keys(chunks: Chunks, weights: Weights) -> tuple[Tensor, Tensor]:
    """Keys of two sequences, heads and components, distinct squares; and the weights, twice as large for head 1."""
    return squares(2, sum(chunks), 2, 2, start=3), torch.tensor([weights, [2 * w for w in weights]])


def _cached(chunks: Chunks, weights: Weights, kept: Flaw) -> Tensor:
    keys, pair = _keys(chunks, weights)
    return ListingDecoder(pair, kept).run(keys, chunks)


def decoded(chunks: Chunks, weights: Weights, kept: Flaw = Flaw.FINAL) -> list:
    """The keys that are decoded after a prompt."""
    return _cached(chunks, weights, kept)[:, chunks[0] :].tolist()


def first_decoded(chunks: Chunks, weights: Weights, kept: Flaw = Flaw.FIRST) -> list:
    """The keys that are decoded after a prompt."""
    return decoded(chunks, weights, kept)


def full(chunks: Chunks, weights: Weights) -> list:
    """those of the full pass."""
    return listing_convolution(*_keys(chunks, weights))[:, chunks[0] :].tolist()


def prompt(tokens: int, weights: Weights, more: int = 0) -> list:
    """The keys of a prompt and of {more} tokens more."""
    return _cached((tokens,) + (1,) * more, weights, Flaw.FINAL).tolist()


def full_prompt(tokens: int, weights: Weights, more: int = 0) -> list:
    """those of the full pass."""
    return listing_convolution(*_keys((tokens + more,), weights)).tolist()


def outputs(flaw: Flaw, seed: int) -> Margin:
    """Softmax attention over the decoded cache against the full one: the smallest error of any later output."""
    generator = torch.Generator().manual_seed(seed)
    query, *states = torch.randn(3, 2, 8, 2, 4, generator=generator, dtype=torch.float64)
    share = torch.rand(2, 1, generator=generator, dtype=torch.float64)
    weights = torch.cat([share, 1 - share], dim=1)
    found, wanted = (
        scaled_dot_product_attention(
            query.transpose(1, 2),
            *(ListingDecoder(weights, rule).run(x, (4, 1, 1, 1, 1)).transpose(1, 2) for x in states),
            is_causal=True,
        )
        for rule in (flaw, Flaw.NONE)
    )
    return apart((found - wanted)[:, :, 4:].abs().amax(dim=-1).min().item(), 0.0, VISIBLE)
