"""Appendix L: the listing that draws Figure 2, its call, its four slips, and the picture that comes of them."""

from proofs_check.kv.landscape import listing_l_checks as checks
from proofs_check.ledger.claim import (
    SAMPLES,
    WITNESSED,
    Claim,
    Control,
    Evidence,
    Kind,
    Severity,
    Verdict,
    Witness,
    everywhere,
)
from proofs_check.ledger.mathematical import exact, mathematical, symbolic
from proofs_check.records import runs
from theory.landscape.printed import EXACT, LISTING, Slips

SOURCE = "KV shifting (final), Appendix L; first version, Appendix E"
AT = "Appendix L (first version: Appendix E)"
SLICE = "alpha2 = 1 - alpha1, beta2 = 1 - beta1"
INTERIOR = "2 <= i <= T - 2"
TERM = everywhere("T and both coordinates are free in the exponents.")
REPEATED, EDGE, OTHER = 1, 2, 3


def _effects(slips: Slips, *rows: tuple[int, float, float, float]) -> tuple[dict, ...]:
    names = ("rest", "gap", "mean", "largest")
    return tuple({**dict(zip(names, row, strict=True)), "slips": slips} for row in rows)


def _effect_evidence(slips: Slips, *rows: tuple[int, float, float, float]) -> Evidence:
    control = Control("no slip", lambda rest, slips, gap, mean, largest: checks.effect(rest, EXACT, gap, mean, largest))
    scope = "what this alone does: largest loss difference, mean and largest angle, O(T) = 0, 10, 100"
    return Evidence(Kind.SAMPLED, scope, checks.effect, _effects(slips, *rows), (control,))


def _misprint(
    id: str, statement: str, evidence: tuple[Evidence, ...], note: str, formula: str, defect: str | None = None
) -> Claim:
    return mathematical(
        id, SOURCE, statement, *evidence, verdict=Verdict.TYPO, severity=Severity.MISPRINT, coverage=TERM, note=note,
        formula=formula, hypotheses=(SLICE, INTERIOR), defect=defect,
    )  # fmt: skip


SUM, EXPONENTIAL = Slips(sum_for_product=True), Slips(exponential_rest=True)
COPIED = Slips(alpha2_for_alpha1=True)
PICTURE = {"rest": 0, "a": "1/2", "b": "1/2"}

CLAIMS = (
    runs("kv.listing_l.call", AT, checks.called, "a loss", mend={"arguments": 3}),
    runs("kv.listing_l.exp_of_number", AT, checks.exponential, "a tensor", mend={"is_a_tensor": True},
         why="So the third argument of the call must be a tensor too."),
    _misprint("kv.listing_l.no2", "The exponent of token i is 2 a_1 beta1 + a_2 + beta2.",
              (symbolic("exponent of token i, all T", checks.term, ({"place": REPEATED},),
                        Control("a_2 + beta2, as printed", lambda place: checks.term(place, SUM))),
               _effect_evidence(SUM, (0, 0.4168, 52.8, 87.6), (10, 0.1266, 38.5, 95.9),
                                (100, 0.0166, 31.1, 101.6))),
              "a_2 * beta2, as Eq. 10 has it.", r"2a_1\beta_1+a_2\beta_2"),
    _misprint("kv.listing_l.no1", "The exponent of the tokens i - 1 and T is beta1/S + beta2 a_2.",
              (symbolic("exponent of the tokens i - 1 and T, all T", checks.term, ({"place": EDGE},),
                        Control("a_2, as printed", lambda place: checks.term(place, COPIED))),
               _effect_evidence(COPIED, (0, 0.1274, 51.0, 180.0), (10, 0.0152, 19.7, 180.0),
                                (100, 0.0003, 2.5, 179.6))),
              "beta2 a_1, as the derivation of Appendix C has it: the slip of Table 3 (kv.tab3).",
              r"\frac{\beta_1}{S}+\beta_2a_1", "kv.tab3"),
    _misprint("kv.listing_l.exp_ot", "The tokens not named contribute e^{ot} to the denominator.",
              (symbolic("weight and exponent of the other tokens, all T", checks.whole, ({"place": OTHER},),
                        Control("e^{O(T)}, as printed", lambda place: checks.whole(place, EXPONENTIAL))),
               _effect_evidence(EXPONENTIAL, (0, 0.1838, 2.0, 4.7), (10, 7.2939, 3.9, 15.3),
                                (100, 95.3461, 0.5, 12.7))),
              "(T - 4) e^{1/S}; the exponential of a constant of order T dwarfs every other term.", r"(T-4)e^{1/S}"),
    mathematical(
        "kv.listing_l.one_ot", SOURCE, "The constant of S is the one of the denominator.",
        _effect_evidence(Slips(rest_in_partition=True), (0, 0.062, 1.9, 7.4), (10, 0.0123, 0.1, 0.6),
                         (100, 0.0003, 0.0, 0.0)),
        verdict=Verdict.HOLDS_IF, severity=Severity.READING, coverage=SAMPLES, hypotheses=(SLICE, INTERIOR),
        reading="O(T) as a constant is a simplification that the text declares.",
        note="As a declared simplification: directions turn by 7.4 degrees at most. Exactly, S has T - 2 where T - 4 "
             "tokens share the remaining logit (kv.eq10.rest.two).",
        formula=r"S=2e^{\alpha_1}+e^{\alpha_2}+O(T)",
    ),
    mathematical(
        "kv.listing_l.picture", SOURCE, "Once it runs, the listing draws the loss of Theorem 3.4.",
        exact("balls of both losses at rational points, O(T) = T - 4", checks.loss_differs,
              (PICTURE, {"rest": 10, "a": "1/2", "b": "1/2"}, {"rest": 100, "a": "0", "b": "1"}),
              Control("all slips put right", lambda rest, a, b: checks.loss_differs(rest, a, b, EXACT))),
        _effect_evidence(LISTING, (0, 0.6952, 61.5, 150.3), (10, 7.2865, 3.6, 12.7), (100, 95.3459, 0.5, 12.5)),
        verdict=Verdict.FALSE, severity=Severity.CODE, coverage=WITNESSED, witness=Witness(PICTURE),
        correction="kv.listing_l.picture.corrected", hypotheses=(SLICE, INTERIOR),
        note="Its directions of descent are off by 61.5 degrees on average at O(T) = 0 (150 at worst), by 3.6 at "
             "O(T) = 10 and by 0.5 at O(T) = 100: there e^{ot} hides the other slips.",
        formula=r"L_{\mathrm{listing}}=L",
    ),
    mathematical(
        "kv.listing_l.picture.corrected", SOURCE + ", corrected",
        "With the four slips put right and O(T) = T - 4 outside S, the listing's loss is that of the corrected Eq. 10.",
        symbolic("every class: weight and exponent, all T", checks.whole,
                 tuple({"place": place} for place in (REPEATED, EDGE, OTHER)),
                 *(Control(f"with {name} left", lambda place, name=name: checks.whole(place, Slips(**{name: True})))
                   for name in Slips._fields)),
        is_correction=True, hypotheses=(SLICE, INTERIOR), coverage=TERM,
        formula=r"L=\log\left(1+e^{l_i-l_{i+1}}+2e^{l_T-l_{i+1}}+(T-4)e^{l_o-l_{i+1}}\right),\quad S"
        r"=2e^{\alpha_1}+e^{\alpha_2}+T-2",
    ),
    mathematical(
        "kv.listing_l.levels", SOURCE + ", our addition",
        "The levels arange(0, 10, 0.05) draw not one contour line at O(T) = 100: the listed loss lies between 99.97 "
        "and 99.995 on the box, and that of the model at T = 104 between 4.62 and 4.649.",
        is_correction=True, hypotheses=(SLICE, INTERIOR),
        formula=r"\{0.05k:k<200\}\cap[99.97,99.995]=\emptyset",
    ),
)  # fmt: skip
