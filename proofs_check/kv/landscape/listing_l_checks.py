"""Margins of the claims about the listing of Appendix L; the claims are in `listing_l`."""

import inspect
from fractions import Fraction

import numpy as np
import sympy as sp

from proofs_check.evidence.margin import Margin, at_most, balls_apart, identity, worst
from proofs_check.kv.landscape.figure2_checks import at, exact
from theory.landscape.grid import angle_between, slice_grid
from theory.landscape.printed import EXACT, LISTING, Slips, printed_grid
from theory.landscape.slice_symbolic import exact_terms, loss, slipped_terms
from theory.landscape.symbolic import interior_table
from theory.symbols import n_tokens


def signature(alpha, beta, ot=0):
    """The listing's signature."""


def called(arguments: int = 4) -> str:
    """What f(alpha, beta, ot = 0) gives of {arguments} arguments."""
    inspect.signature(signature).bind(*range(arguments))
    return "a loss"


def exponential(number: float = 0.00001, is_a_tensor: bool = False) -> str:
    """What torch.exp gives of ot = {number}."""
    import torch

    found = torch.exp(torch.tensor(number) if is_a_tensor else number)
    return "a tensor" if isinstance(found, torch.Tensor) else "something else"


def term(place: int, slips: Slips = EXACT) -> Margin:
    """Exponent of one class relative to the target's, T symbolic, O(T) = T - 4, with slips against the exact one."""
    return identity(slipped_terms(n_tokens - 4, slips)[place][1], exact_terms(interior_table())[place][1])


def whole(place: int, slips: Slips = EXACT) -> Margin:
    """The same and the weight of the class."""
    ours, true = slipped_terms(n_tokens - 4, slips)[place], exact_terms(interior_table())[place]
    return worst([identity(a, b) for a, b in zip(ours, true, strict=True)])


def effect(rest: int, slips: Slips, gap: float, mean: float, largest: float) -> Margin:
    """Largest |loss difference|, mean and largest angle (degrees) to the exact field at T = rest + 4, 401 x 401."""
    drawn, true = printed_grid(rest, slips, 401), slice_grid(rest + 4, 401)
    angle = np.degrees(angle_between(drawn, true))
    found = (float(np.abs(drawn.loss - true.loss).max()), float(angle.mean()), float(angle.max()))
    allowed = (0.0005 * max(1.0, gap), 0.06, 0.06)
    return worst([at_most(abs(x - y), e) for x, y, e in zip(found, (gap, mean, largest), allowed, strict=True)])


def _listed(rest: int, slips: Slips = LISTING):
    return slipped_terms(sp.Integer(rest), slips)


def loss_differs(rest: int, a: str, b: str, slips: Slips = LISTING) -> Margin:
    values = [at(loss(terms), Fraction(a), Fraction(b)) for terms in (_listed(rest, slips), exact(rest + 4))]
    return balls_apart(*values)
