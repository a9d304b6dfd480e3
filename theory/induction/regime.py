"""Proofs about Definition 3.1 and the masks of Theorem 3.2: which match a head reads, and which masks fail."""

import itertools
from fractions import Fraction
from typing import NamedTuple

import sympy as sp

from theory.induction.network import LEFT_OUT
from theory.induction.symbolic import induction_terms
from theory.symbols import sigma, slope


def successor_weights(word: str) -> dict[int, sp.Expr]:
    """Weight of IH before normalising at s = 2..L-1, the letters of `word` being orthonormal tokens."""
    letters = sorted(set(word))
    tokens = [tuple(sp.Integer(int(letter == other)) for other in letters) for letter in word]
    return {s: sp.exp(score) for s, (score, _) in enumerate(induction_terms(tokens), start=2)}


def latest_weight_limit(word: str = "ABACA", match: int = 3) -> sp.Expr:
    """Share of IH on the successor of the latest match as m -> 0, then sigma -> 0; the text after Eq. 7 needs 1."""
    weights = successor_weights(word)
    share = (weights[match + 1] / sp.Add(*weights.values())).subs(slope, 0)
    cold = sp.Symbol("e^(1/sigma)", positive=True)
    return sp.limit(share.subs(sp.exp(1 / sigma), cold), cold, sp.oo)


class MaskWitness(NamedTuple):
    """The shortest, then first, binary tokens at which a pair of masks is wrong, even in the limit p -> infinity."""

    tokens: tuple[int, ...]
    output: Fraction
    head: Fraction


def hard_mask_output(
    tokens: tuple[int, ...], first_mask: str, support: str, match_weight: Fraction, decay: Fraction
) -> Fraction:
    """Output of the two-layer network as p -> infinity, one dimension, e^{1/sigma} = match_weight, e^{-m} = decay.

    Layer 1 then copies x_{s-1} ("strict", and 0 to s = 1) or x_s ("causal"). Exact for whole-numbered tokens.
    """
    length, (start, end) = len(tokens), LEFT_OUT[support]
    above = below = Fraction(0)
    for s in range(1 + start, length - end + 1):
        copied = tokens[s - 1] if first_mask == "causal" else (tokens[s - 2] if s >= 2 else 0)
        weight = Fraction(match_weight) ** (tokens[-1] * copied) * Fraction(decay) ** (length - s)
        above, below = above + weight * tokens[s - 1], below + weight
    return above / below


def wrong_mask_witness(
    first_mask: str,
    support: str,
    longest: int = 5,
    match_weight: Fraction = Fraction(2),
    decay: Fraction = Fraction(1, 2),
) -> MaskWitness | None:
    """The smallest binary input on which the masks miss IH in the limit; None for ("strict", "inner"), which is IH."""
    for length in range(3, longest + 1):
        for tokens in itertools.product((0, 1), repeat=length):
            head = _head(tokens, match_weight, decay)
            output = hard_mask_output(tokens, first_mask, support, match_weight, decay)
            if output != head:
                return MaskWitness(tokens, output, head)
    return None


def _head(tokens: tuple[int, ...], match_weight: Fraction, decay: Fraction) -> Fraction:
    """Definition 3.1 in one dimension."""
    places = range(2, len(tokens))
    weights = [match_weight ** (tokens[-1] * tokens[s - 2]) * decay ** (len(tokens) - s) for s in places]
    return sum(w * tokens[s - 1] for s, w in zip(places, weights, strict=True)) / sum(weights)
