"""What a user of Appendix M's listing must add: document borders, left pads, beams."""

import sympy as sp
import torch

from dynamics.model.listing_m import Flaw, ListingDecoder, listing_convolution
from dynamics.model.shift import shift_mix
from proofs_check.evidence.margin import Margin, identity, same
from proofs_check.ledger.claim import INSTANCES, Claim, Control, Severity, Verdict
from proofs_check.ledger.mathematical import exact, mathematical, symbolic

SOURCE = "KV shifting (both versions), Appendix M (first version: Appendix F)"
OURS = f"{SOURCE}, our addition"
ANGLE = sp.Symbol("theta", real=True)  # what one position turns a pair of components by
PAIRS = ((2, 5), (-3, 4), (1, 0), (1, 1))


def _turn(position: int | sp.Expr, angle: sp.Expr | int = ANGLE) -> sp.Matrix:
    """Rotary embedding of one pair of components."""
    turned = position * angle
    return sp.Matrix([[sp.cos(turned), -sp.sin(turned)], [sp.sin(turned), sp.cos(turned)]])


def _pair(name: str) -> sp.Matrix:
    return sp.Matrix(2, 1, sp.symbols(f"{name}_1 {name}_2", real=True))


def _score(cached: int, query: int, key: int, offset: int) -> Margin:
    """Score of a query, `query` tokens after the cached ones and rotated from `offset`, with key `key` of the cache."""
    q, k = _pair("q"), _pair("k")
    found = (_turn(offset + query) * q).dot(_turn(key) * k)
    return identity(found, q.dot(_turn(key - cached - query) * k))


def _tokens(*shape: int, start: int = 2) -> torch.Tensor:
    return (torch.arange(start, start + torch.Size(shape).numel()) ** 2).reshape(shape)


def _packed(lengths: tuple[int, int], weights: tuple[int, int], aware: bool = False) -> Margin:
    """Packed minus alone, at the first token of the second document, is alpha2 times the last key of the first."""
    pair, keys = torch.tensor([weights]), _tokens(1, sum(lengths), 1, 2)
    first, second = keys.split(lengths, dim=1)
    if aware:
        documents = torch.tensor([[0] * lengths[0] + [1] * lengths[1]])
        packed = shift_mix(keys.double(), pair.flip(1).double(), segment_ids=documents).long()
    else:
        packed = listing_convolution(keys, pair)
    leak = (packed[:, lengths[0] :] - listing_convolution(second, pair)).tolist()
    wanted = torch.zeros_like(second)
    wanted[:, 0] = pair[:, :1] * first[:, -1]
    return same(leak, wanted.tolist())


def _padded(pads: int, weights: tuple[int, int], erased: bool = False) -> Margin:
    """Left-padded minus alone, over the real tokens, is alpha2 times the pad's key at the first of them."""
    pair, keys = torch.tensor([weights]), _tokens(1, pads + 3, 1, 2)
    real = keys[:, pads:]
    row = torch.cat([torch.zeros_like(keys[:, :pads]) if erased else keys[:, :pads], real], dim=1)
    leak = listing_convolution(row, pair)[:, pads:] - listing_convolution(real, pair)
    wanted = torch.zeros_like(real)
    wanted[:, 0] = pair[:, :1] * keys[:, pads - 1]
    return same(leak.tolist(), wanted.tolist())


def _beams(order: tuple[int, ...], weights: tuple[int, int], reordered: bool = False) -> Margin:
    """Beams reordered without last_k: the next key is off by alpha2 times (stale minus own last raw key)."""
    pair, keys = torch.tensor([weights]), _tokens(len(order), 4, 1, 2)
    decoder = ListingDecoder(pair, Flaw.NONE)
    decoder(keys[:, :3])
    moved = keys[list(order)]
    if reordered:
        decoder.last = moved[:, 2:3]
    leak = decoder(moved[:, 3:]) - listing_convolution(moved, pair)[:, 3:]
    return same(leak.tolist(), (pair[:, :1] * (keys - moved)[:, 2:3]).tolist())


def _cases(**values: tuple) -> list[dict]:
    (name, options), = values.items()  # fmt: skip
    return [{name: option, "weights": weights} for option in options for weights in PAIRS]


CACHES = [{"cached": c, "query": q, "key": s, "offset": c} for c in (1, 2) for q in (0, 1) for s in range(c)]

CLAIMS: tuple[Claim, ...] = (
    mathematical(
        "kv.appM.offset",
        SOURCE,
        "q and k are rotated with seqlen_offset=0.",
        symbolic(
            "scores of the queries of a first pass, which depend on the distance alone; angle free",
            _score,
            [{"cached": 0, "query": q, "key": s, "offset": 0} for q in range(3) for s in range(q + 1)],
            Control("decoding with offset 0", points=[{**p, "offset": 0} for p in CACHES]),
        ),
        symbolic(
            "scores of decoded queries with the keys of the cache, the offset being the number of cached tokens",
            _score,
            CACHES,
            Control("one token too far", points=[{**p, "offset": p["cached"] + 1} for p in CACHES]),
        ),
        verdict=Verdict.HOLDS_IF,
        hypotheses=("nothing is cached",),
        note="Missing: without a past. In decoding the offset is the number of cached tokens.",
        formula=r"q_t\mapsto R_{0+t}\,q_t,\quad k_s\mapsto R_{0+s}\,k_s",
        reading="The listing is the one of training, which has no past.",
        severity=Severity.READING,
        coverage=INSTANCES,
    ),
    mathematical(
        "kv.appM.packed",
        OURS,
        "In packed documents the listing leaks alpha2 times the last key of one into the first key of the next.",
        exact(
            "documents of 1 to 3 tokens, four pairs of weights",
            _packed,
            _cases(lengths=((1, 1), (3, 2), (2, 3))),
            Control("mixing that knows the documents", lambda lengths, weights: _packed(lengths, weights, True)),
        ),
        is_correction=True,
        formula=r"\hat k_1=\alpha_1k_1+\alpha_2k_{\mathrm{last}}",
        coverage=INSTANCES,
    ),
    mathematical(
        "kv.appM.padding",
        OURS,
        "With left padding the listing leaks alpha2 times the pad's key into the first real key.",
        exact(
            "1 to 3 pads, four pairs of weights",
            _padded,
            _cases(pads=(1, 2, 3)),
            Control("the keys of pads set to zero", lambda pads, weights: _padded(pads, weights, True)),
        ),
        is_correction=True,
        formula=r"\hat k_1=\alpha_1k_1+\alpha_2k_{\mathrm{pad}}",
        coverage=INSTANCES,
    ),
    mathematical(
        "kv.appM.beams",
        OURS,
        "When beams are reordered, last_k and last_v must be too: the next key is else off by alpha2 times the "
        "difference of the two last keys.",
        exact(
            "two or three beams, swapped, turned and doubled; four pairs of weights",
            _beams,
            _cases(order=((1, 0), (2, 0, 1), (0, 0), (1, 1, 2))),
            Control("last_k reordered", lambda order, weights: _beams(order, weights, True)),
        ),
        is_correction=True,
        formula=r"\Delta\hat k_t=\alpha_2(k_{t-1}^{\mathrm{stale}}-k_{t-1})",
        coverage=INSTANCES,
    ),
)
