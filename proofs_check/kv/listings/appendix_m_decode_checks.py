"""Margins on the inference listings of Appendix M, in whole numbers."""

import torch
from torch import Tensor

from dynamics.model.listing_m import Flaw, ListingDecoder, listing_convolution
from proofs_check.evidence.margin import Margin, apart, different, same, worst
from proofs_check.evidence.tolerances import VISIBLE

FINAL = "KV shifting (final), Appendix M, inference"
FIRST = "KV shifting (first version), Appendix F, inference"
BOTH = "KV shifting (both versions), Appendix M (first version: Appendix F), inference"

Weights = tuple[int, int]
PROMPTS = [
    {"prompt": prompt, "decoded": decoded, "weights": weights}
    for prompt in (1, 2, 4)
    for decoded in (1, 2, 3)
    for weights in ((1, 0), (2, 5), (-3, 4), (1, -1))
]
# A prompt first; then single tokens, chunks, and both in turn.
CHUNKS = [{"chunks": c} for c in ((1, 1), (4, 1, 1, 1), (4, 2), (6, 2, 1), (1, 3, 2, 1, 4), (2, 1, 3))]
HEAD: Weights = (1, 0)  # induction head: K = (alpha2, alpha1) = (1, 0)


def raw_keys(length: int) -> Tensor:
    """Whole-number keys of two sequences, two heads, two components: squares, all distinct."""
    return (torch.arange(3, 3 + 8 * length) ** 2).reshape(2, length, 2, 2)


def weights_of(weights: Weights) -> Tensor:
    """The same pair for head 0, and twice it for head 1."""
    return torch.tensor([weights, [2 * w for w in weights]])


def decode_and_full(flaw: Flaw, chunks: tuple[int, ...], weights: Weights) -> tuple[Tensor, Tensor]:
    """What the decoder caches and what the full pass gives, each (2, tokens, 2, 2)."""
    raw, coefficients = raw_keys(sum(chunks)), weights_of(weights)
    return ListingDecoder(coefficients, flaw).run(raw, chunks), listing_convolution(raw, coefficients)


def one_by_one(flaw: Flaw, prompt: int, decoded: int, weights: Weights) -> tuple[Tensor, Tensor]:
    return decode_and_full(flaw, (prompt,) + (1,) * decoded, weights)


def each_wrong(prompt: int, decoded: int, weights: Weights, flaw: Flaw = Flaw.FINAL) -> Margin:
    """Every decoded token differs from the full pass, in every head of every sequence."""
    found, wanted = one_by_one(flaw, prompt, decoded, weights)
    return worst(
        [
            different(found[b, t, h].tolist(), wanted[b, t, h].tolist())
            for b in (0, 1)
            for h in (0, 1)
            for t in range(prompt, prompt + decoded)
        ]
    )


def right(chunks: tuple[int, ...], flaw: Flaw = Flaw.NONE) -> Margin:
    """Decoding equals the full pass, for three pairs of weights."""
    pairs = [decode_and_full(flaw, chunks, weights) for weights in ((1, 0), (2, 5), (-3, 4))]
    return worst([same(found.tolist(), wanted.tolist()) for found, wanted in pairs])


def error(prompt: int, decoded: int, weights: Weights, sign: int = 1) -> Margin:
    """Decoded minus full is (alpha1 - alpha2) k_{t-1}, with (alpha2, alpha1) = weights."""
    found, wanted = one_by_one(Flaw.FINAL, prompt, decoded, weights)
    pair = weights_of(weights)
    excess = sign * (pair[:, 1:] - pair[:, :1]) * raw_keys(prompt + decoded)[:, prompt - 1 : -1]
    return same((found - wanted)[:, prompt:].tolist(), excess.tolist())


def prompt_right(prompt: int, decoded: int, weights: Weights, upto: int = 0) -> Margin:
    """The first `prompt + upto` entries are those of the full pass."""
    found, wanted = one_by_one(Flaw.FINAL, prompt, decoded, weights)
    return same(found[:, : prompt + upto].tolist(), wanted[:, : prompt + upto].tolist())


def first_wrong(prompt: int, decoded: int, weights: Weights, flaw: Flaw = Flaw.FIRST) -> Margin:
    found, wanted = one_by_one(flaw, prompt, decoded, weights)
    return different(found[:, prompt].tolist(), wanted[:, prompt].tolist())


def outputs(flaw: Flaw, seed: int) -> Margin:
    """Softmax attention over the decoded cache against the full one: the smallest error of any later output."""
    generator = torch.Generator().manual_seed(seed)
    query, key, value = torch.randn(3, 2, 8, 2, 4, generator=generator, dtype=torch.float64)
    weights = torch.rand(2, 1, generator=generator, dtype=torch.float64)
    weights = torch.cat([weights, 1 - weights], dim=1)
    seen = torch.ones(8, 8, dtype=torch.bool).tril()
    outputs = []
    for rule in (flaw, Flaw.NONE):
        k, v = (ListingDecoder(weights, rule).run(x, (4, 1, 1, 1, 1)).transpose(1, 2) for x in (key, value))
        outputs.append(torch.nn.functional.scaled_dot_product_attention(query.transpose(1, 2), k, v, attn_mask=seen))
    found, wanted = outputs
    return worst([apart(found[b, h, t], wanted[b, h, t], VISIBLE) for b in (0, 1) for h in (0, 1) for t in range(4, 8)])


SMALLEST = {"prompt": 1, "decoded": 1, "weights": HEAD}
FLAWS = (Flaw.FINAL, Flaw.FIRST)


def mended(margin):
    """The same margin for the corrected rule."""
    return lambda **point: margin(**{**point, "flaw": Flaw.NONE})
