"""Samples of the family theorem: an identity-scaled head at its least scale, on every short sentence."""

import math

import numpy as np
import sympy as sp

from proofs_check.evidence.margin import Margin, identity, less
from proofs_check.oracles import family

VOCABULARY, LENGTHS = 3, (3, 4, 5, 6)
POINTS = tuple(
    {"r": r, "s": s, "u": u}
    for r, s, u in ((0.0, 0.0, 0.0), (-1.0, 0.0, 0.0), (-0.5, 0.0, 0.9), (0.5, 0.0, -2.0), (0.9, 0.0, 0.0),
                    (-0.7, 0.3, 0.5), (0.0, 0.4, -0.5), (0.0, 0.0, 0.5), (-2.0, -0.2, -1.0), (0.2, -0.3, 0.2))
)  # fmt: skip


def right(r: float, s: float, u: float, scale: float = 1.0) -> Margin:
    """0 against the least lead of the target over all sentences, at `scale` times the scale that the claim asks for."""
    gap = min(1.0, 1 + r * s) - max(0.0, r, s, r + s, r * s, r * s + s)
    leads = []
    for length in LENGTHS:
        c = scale * math.log(1.0001 * (length - 1) * (1 + abs(u)) / min(1.0, 1 - u)) / gap
        match, read = c * np.eye(VOCABULARY), np.eye(VOCABULARY)
        for x, target in family.sentences(VOCABULARY, length):
            found = family.output(x, (1.0, s), (r, 1.0), (1.0, u), match, read)
            leads.append(found[target] - max(entry for token, entry in enumerate(found) if token != target))
    return less(0.0, min(leads))


def balance(turned: bool = False) -> Margin:
    """What the target leads by where p + 1 has odds o: lead of its share, less the worst of all others."""
    odds, lead, u = sp.symbols("o lambda u", positive=True)
    share = (1 if turned else odds) / (1 + odds)
    return identity(share * lead - (1 - share) * (1 + u), (odds * lead - 1 - u) / (1 + odds))
