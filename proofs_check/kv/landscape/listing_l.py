"""Appendix L: the listing that draws Figure 2, its call, its four slips, and the picture that comes of them."""

import inspect
from fractions import Fraction

import numpy as np
import sympy as sp

from proofs_check.evidence.margin import Margin, at_most, balls_apart, worst
from proofs_check.kv.landscape.figure2 import INTERIOR, SLICE, at
from proofs_check.ledger.claim import (
    SAMPLES,
    WITNESSED,
    Claim,
    Control,
    Evidence,
    Severity,
    Verdict,
    everywhere,
)
from proofs_check.ledger.mathematical import exact, identities, mathematical, sampled, symbolic
from proofs_check.records import runs
from theory.landscape.grid import angle_between, slice_grid
from theory.landscape.printed import EXACT, LISTING, Slips, printed_grid
from theory.landscape.slice_symbolic import exact_terms, loss, slipped_terms
from theory.landscape.symbolic import interior_table
from theory.symbols import n_tokens

SOURCE = "KV shifting (final), Appendix L; first version, Appendix E"
AT = "Appendix L (first version: Appendix E)"
TERM = everywhere("T and both coordinates are free in the exponents.")
REPEATED, EDGE, OTHER = 1, 2, 3


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
    """Weight of a class and exponent relative to the target's against the exact ones, T symbolic, O(T) = T - 4."""
    return identities(slipped_terms(n_tokens - 4, slips)[place], exact_terms(interior_table())[place])


def effect(rest: int, gap: float, mean: float, largest: float, slips: Slips) -> Margin:
    """Largest |loss difference|, mean and largest angle (degrees) to the exact field at T = rest + 4, 401 x 401."""
    drawn, true = printed_grid(rest, slips, 401), slice_grid(rest + 4, 401)
    angle = np.degrees(angle_between(drawn, true))
    found = (float(np.abs(drawn.loss - true.loss).max()), float(angle.mean()), float(angle.max()))
    allowed = (0.0005 * max(1.0, gap), 0.06, 0.06)
    return worst([at_most(abs(x - y), e) for x, y, e in zip(found, (gap, mean, largest), allowed, strict=True)])


def loss_differs(rest: int, a: str, b: str, slips: Slips = LISTING) -> Margin:
    both = slipped_terms(sp.Integer(rest), slips), exact_terms(interior_table(sp.Integer(rest + 4)))
    return balls_apart(*(at(loss(terms), Fraction(a), Fraction(b)) for terms in both))


def _effects(slips: Slips, *rows: tuple[int, float, float, float]) -> Evidence:
    return sampled(
        "what this alone does: largest loss difference, mean and largest angle, O(T) = 0, 10, 100",
        lambda **row: effect(**row, slips=slips),
        tuple(dict(zip(("rest", "gap", "mean", "largest"), row, strict=True)) for row in rows),
        Control("no slip", lambda **row: effect(**row, slips=EXACT)),
    )


def _misprint(
    id: str, statement: str, place: int, printed: str, slips: Slips, note: str, formula: str, defect: str | None = None
) -> Claim:
    control = Control(f"{printed}, as printed", lambda place: term(place, slips))
    evidence = symbolic("weight and exponent of this class, all T", term, ({"place": place},), control)
    return mathematical(
        id, SOURCE, statement, evidence, verdict=Verdict.TYPO, severity=Severity.MISPRINT, coverage=TERM, note=note,
        formula=formula, hypotheses=(SLICE, INTERIOR), defect=defect,
    )  # fmt: skip


PICTURE = {"rest": 0, "a": "1/2", "b": "1/2"}

CLAIMS = (
    runs("kv.listing_l.call", AT, called, "a loss", mend={"arguments": 3}),
    runs("kv.listing_l.exp_of_number", AT, exponential, "a tensor", mend={"is_a_tensor": True},
         why="So the third argument of the call must be a tensor too."),
    _misprint("kv.listing_l.no2", "The exponent of token i is 2 a_1 beta1 + a_2 + beta2.", REPEATED, "a_2 + beta2",
              Slips(sum_for_product=True), "a_2 * beta2, as Eq. 10 has it.", r"2a_1\beta_1+a_2\beta_2"),
    _misprint("kv.listing_l.no1", "The exponent of the tokens i - 1 and T is beta1/S + beta2 a_2.", EDGE, "a_2",
              Slips(alpha2_for_alpha1=True),
              "beta2 a_1, as the derivation of Appendix C has it: the slip of Table 3 (kv.tab3).",
              r"\frac{\beta_1}{S}+\beta_2a_1", "kv.tab3"),
    _misprint("kv.listing_l.exp_ot", "The tokens not named contribute e^{ot} to the denominator.", OTHER, "e^{O(T)}",
              Slips(exponential_rest=True),
              "(T - 4) e^{1/S}; the exponential of a constant of order T dwarfs every other term.", r"(T-4)e^{1/S}"),
    mathematical(
        "kv.listing_l.one_ot", SOURCE, "The constant of S is the one of the denominator.",
        _effects(Slips(rest_in_partition=True), (0, 0.062, 1.9, 7.4), (10, 0.0123, 0.1, 0.6), (100, 0.0003, 0.0, 0.0)),
        verdict=Verdict.HOLDS_IF, severity=Severity.READING, coverage=SAMPLES, hypotheses=(SLICE, INTERIOR),
        reading="O(T) as a constant is a simplification that the text declares.",
        note="As a declared simplification: directions turn by 7.4 degrees at most. Exactly, S has T - 2 where T - 4 "
             "tokens share the remaining logit (kv.eq10.rest.two).",
        formula=r"S=2e^{\alpha_1}+e^{\alpha_2}+O(T)",
    ),
    mathematical(
        "kv.listing_l.picture", SOURCE, "Once it runs, the listing draws the loss of Theorem 3.4.",
        exact("balls of both losses at rational points, O(T) = T - 4", loss_differs,
              (PICTURE, {"rest": 10, "a": "1/2", "b": "1/2"}, {"rest": 100, "a": "0", "b": "1"}),
              Control("all slips put right", lambda rest, a, b: loss_differs(rest, a, b, EXACT))),
        _effects(LISTING, (0, 0.6952, 61.5, 150.3), (10, 7.2865, 3.6, 12.7), (100, 95.3459, 0.5, 12.5)),
        verdict=Verdict.FALSE, severity=Severity.CODE, coverage=WITNESSED, witness=PICTURE,
        correction="kv.listing_l.picture.corrected", hypotheses=(SLICE, INTERIOR),
        note="Its directions of descent are off by 61.5 degrees on average at O(T) = 0 (150 at worst), by 3.6 at "
             "O(T) = 10 and by 0.5 at O(T) = 100: there e^{ot} hides the other slips.",
        formula=r"L_{\mathrm{listing}}=L",
    ),
    mathematical(
        "kv.listing_l.picture.corrected", SOURCE + ", corrected",
        "With the four slips put right and O(T) = T - 4 outside S, the listing's loss is that of the corrected Eq. 10.",
        symbolic("every class: weight and exponent, all T", term,
                 tuple({"place": place} for place in (REPEATED, EDGE, OTHER)),
                 *(Control(f"with {name} left", lambda place, name=name: term(place, Slips(**{name: True})))
                   for name in Slips._fields)),
        is_correction=True, hypotheses=(SLICE, INTERIOR), coverage=TERM,
        formula=r"L=\log\left(1+e^{l_i-l_{i+1}}+2e^{l_T-l_{i+1}}+(T-4)e^{l_o-l_{i+1}}\right),\quad S"
        r"=2e^{\alpha_1}+e^{\alpha_2}+T-2",
    ),
)  # fmt: skip
