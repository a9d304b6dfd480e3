"""Appendix M of the KV-shifting paper (first version: Appendix F): the training listing, part by part."""

import torch
import torch.nn.functional as F

from dynamics.model.listing_m import listing_convolution, listing_module, unfold_shape
from dynamics.model.shift import shift_mix
from proofs_check.evidence.margin import Margin, same, worst
from proofs_check.ledger.claim import ENUMERATED, INSTANCES, Claim, Control, Nature, Severity, Verdict
from proofs_check.ledger.exact_claim import exact_claim, unsettled_claim
from proofs_check.ledger.mathematical import exact, mathematical

SOURCE = "KV shifting (both versions), Appendix M (first version: Appendix F)"
WINDOWS = [{"length": length, "window": w} for length in (1, 2, 3, 5) for w in (1, 2, 3, 4)]

# The listing's names: what it reads apart from Python's own, and what its imports, definitions and arguments bind.
READ = frozenset({"torch", "nn", "F", "flash_attn_func", "custom_convolution", "self", "U", "K", "V", "q", "k", "v"})
BOUND = READ - {"torch"}


def _one_token(length: int, at: int) -> torch.Tensor:
    x = torch.zeros(1, length, 1, 1, dtype=torch.int64)
    x[0, at] = 1
    return x


def _convolution(length: int, window: int, oldest_first: bool = True) -> Margin:
    """A unit token at p meets a unit weight in column j: it arrives at p + (w - 1 - j), or falls off the end.

    Both sides are bilinear, so that the units decide for all tokens and weights of these shapes.
    """
    margins = []
    for at in range(length):
        for column in range(window):
            weights = torch.zeros(1, window, dtype=torch.int64)
            weights[0, column] = 1
            found = listing_convolution(_one_token(length, at), weights).flatten().tolist()
            lag = window - 1 - column if oldest_first else column
            margins.append(same(found, [int(place == at + lag) for place in range(length)]))
    return worst(margins)


def _numbers(*shape: int, start: int = 1) -> torch.Tensor:
    """Distinct squares: whole numbers without a linear relation that a check could meet by chance."""
    return (torch.arange(start, start + torch.Size(shape).numel()) ** 2).reshape(shape)


def _heads(window: int, flipped: bool = True) -> Margin:
    """Several sequences, heads and components: the listing equals Eq. 5 with its columns in reverse, head by head."""
    x, weights = _numbers(2, 5, 3, 2), _numbers(3, window, start=70)
    wanted = shift_mix(x.double(), (weights.flip(1) if flipped else weights).double())
    return same(listing_convolution(x, weights).tolist(), wanted.long().tolist())


def _unfolded(length: int, window: int, extra: int = 0) -> Margin:
    """Shape of U_unfolded for batch 2, 3 heads of dimension 4, against (batch, length + extra (w - 1), heads, d, w)."""
    found = unfold_shape(torch.zeros(2, length, 3, 4), window)
    return same(found, (2, length + extra * (window - 1), 3, 4, window))


def _result_shape(length: int, window: int, extra: int = 0) -> Margin:
    found = listing_convolution(torch.zeros(2, length, 3, 4), torch.zeros(3, window)).shape
    return same(tuple(found), (2, length + extra * (window - 1), 3, 4))


def _inner_shapes(length: int, window: int, padded: bool = True) -> Margin:
    """U_padded, K_expanded and V_unfolded, made as the listing makes them, for batch 2, 3 heads of dimension 4."""
    tokens, weights = torch.zeros(2, length, 3, 4), torch.zeros(3, window)
    u_padded = F.pad(tokens, (0, 0, 0, 0, window - 1, 0))
    k_expanded = weights.unsqueeze(0).unsqueeze(0).unsqueeze(-2)
    v_unfolded = u_padded.unfold(1, window, 1) * k_expanded
    found = tuple(tuple(tensor.shape) for tensor in (u_padded, k_expanded, v_unfolded))
    longer = length + (window - 1 if padded else 0)
    return same(found, ((2, longer, 3, 4), (1, 1, 3, 1, window), (2, length, 3, 4, window)))


def _unbound(imported: tuple[str, ...]) -> Margin:
    return same(tuple(sorted(READ & (BOUND | set(imported)))), tuple(sorted(READ)))


def _runs(wanted: str = "a tensor", calls_super: bool = True, spelled: str = "forward", returns: bool = True) -> Margin:
    """Build the listing's module and call it: an error's name, or what comes back."""
    try:
        module = listing_module(calls_super=calls_super, spelled=spelled, returns=returns)(2)
        result = module(torch.zeros(1, 3, 2, 4))
    except (AttributeError, NotImplementedError) as fault:
        return same(wanted, type(fault).__name__)
    return same(wanted, "None" if result is None else "a tensor")


SLIP = {
    "nature": Nature.TEXTUAL,
    "verdict": Verdict.TYPO,
    "severity": Severity.CODE,
    "coverage": ENUMERATED,
    "scope": "the module built and called, the other slips mended",
}

CLAIMS: tuple[Claim, ...] = (
    mathematical(
        "kv.appM.convolution",
        SOURCE,
        "custom_convolution performs the shift: it mixes each token with the w - 1 before it, zeros before the first.",
        exact(
            "unit tokens and unit weights, which span all: lengths 1, 2, 3, 5 and widths 1..4",
            _convolution,
            WINDOWS,
            Control("column 0 for the token itself", lambda length, window: _convolution(length, window, False)),
        ),
        exact(
            "2 sequences, 3 heads, 2 components in whole numbers against Eq. 5, widths 1..4",
            _heads,
            [{"window": w} for w in (1, 2, 3, 4)],
            Control("the columns in the order of Eq. 5", lambda window: _heads(window, False)),
        ),
        formula=r"V_t=\sum_{j=0}^{w-1}K_jU_{t-(w-1)+j}",
        coverage=INSTANCES,
    ),
    mathematical(
        "kv.appM.unfold_shape",
        SOURCE,
        "U_unfolded has shape (bs, seq+w-1, h, d, w).",
        exact(
            "lengths 1, 2, 3, 5 and widths 1..4",
            _unfolded,
            WINDOWS,
            Control("seq + w - 1 windows, as printed", lambda length, window: _unfolded(length, window, 1)),
        ),
        nature=Nature.TEXTUAL,
        verdict=Verdict.TYPO,
        note="It has shape (bs, seq, h, d, w): seq + w - 1 is the length before the windows are cut.",
        severity=Severity.MISPRINT,
        coverage=INSTANCES,
    ),
    mathematical(
        "kv.appM.result_shape",
        SOURCE,
        "V has shape (bs, seq, h, d).",
        exact(
            "lengths 1, 2, 3, 5 and widths 1..4",
            _result_shape,
            WINDOWS,
            Control("the padded length", lambda length, window: _result_shape(length, window, 1)),
        ),
        nature=Nature.TEXTUAL,
        coverage=INSTANCES,
    ),
    exact_claim(
        "kv.appM.import",
        SOURCE,
        "The listing is complete: every name it reads is bound.",
        _unbound,
        ({"imported": ("torch",)},),
        (Control("without an import, as printed", points=({"imported": ()},)),),
        scope="the names of the listing",
        nature=Nature.TEXTUAL,
        verdict=Verdict.TYPO,
        note="`import torch` is missing (only torch.nn is imported, as nn): __init__ raises NameError.",
        severity=Severity.CODE,
        coverage=ENUMERATED,
    ),
    exact_claim(
        "kv.appM.init",
        SOURCE,
        "__init__ begins with the coefficients.",
        _runs,
        ({},),
        (Control("without super().__init__(), as printed", points=({"calls_super": False},)),),
        note="super().__init__() is missing: assigning the first parameter raises AttributeError.",
        **SLIP,
    ),
    exact_claim(
        "kv.appM.forward",
        SOURCE,
        "The method that computes the attention is called foward.",
        _runs,
        ({},),
        (Control("foward, as printed", points=({"spelled": "foward"},)),),
        note="It must be called forward: as printed, calling the module raises NotImplementedError.",
        **SLIP,
    ),
    exact_claim(
        "kv.appM.return",
        SOURCE,
        "The method ends with the attention's outputs.",
        _runs,
        ({},),
        (Control("nothing returned, as printed", points=({"returns": False},)),),
        note="It must return them (and W_o is left to the caller): as printed, the module returns None.",
        **SLIP,
    ),
    unsettled_claim(
        "kv.appM.rotary_emb",
        SOURCE,
        "q and k are rotated by self.rotary_emb(q, k, seqlen_offset=0).",
        note="rotary_emb is not defined. The argument's name is that of flash-attn's RotaryEmbedding, which takes keys "
        "and values in one tensor of five axes and so refuses this k of four; the authors' own class is not known.",
        nature=Nature.TEXTUAL,
    ),
    mathematical(
        "kv.appM.shapes",
        SOURCE,
        "U_padded has shape (bs, seq+w-1, h, d), K_expanded (1, 1, h, 1, w), V_unfolded (bs, seq, h, d, w).",
        exact(
            "lengths 1, 2, 3, 5 and widths 1..4",
            _inner_shapes,
            WINDOWS,
            Control("nothing padded", lambda length, window: _inner_shapes(length, window, False)),
        ),
        nature=Nature.TEXTUAL,
        coverage=INSTANCES,
    ),
)
