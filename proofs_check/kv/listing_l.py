"""Appendix L: the listing that draws Figure 2, its call, its four slips, and the picture that comes of them."""

from proofs_check.claim import Claim, Control, Effort, Evidence, Kind, Nature, Verdict, Witness
from proofs_check.kv import listing_l_checks as checks
from proofs_check.kv.mathematical import mathematical, symbolic
from theory.landscape_printed import EXACT, LISTING, Slips

SOURCE = "KV shifting (final), Appendix L; first version, Appendix E"
SLICE = "alpha2 = 1 - alpha1, beta2 = 1 - beta1"
REPEATED, EDGE, OTHER = 1, 2, 3


def _effects(slips: Slips, *rows: tuple[int, float, float, float]) -> tuple[dict, ...]:
    names = ("rest", "gap", "mean", "largest")
    return tuple({**dict(zip(names, row, strict=True)), "slips": slips} for row in rows)


def _effect_evidence(slips: Slips, *rows: tuple[int, float, float, float]) -> Evidence:
    control = Control("no slip", lambda rest, slips, gap, mean, largest: checks.effect(rest, EXACT, gap, mean, largest))
    scope = "what this alone does: largest loss difference, mean and largest angle, O(T) = 0, 10, 100"
    return Evidence(Kind.SAMPLED, scope, checks.effect, _effects(slips, *rows), (control,))


def _areas(effort: Effort) -> list[dict]:
    names = ("parameter", "low", "high", "depth")
    rows = [("alpha1", "0.40", "0.44", 6), ("beta1", "0", "0", 6)]
    if effort is Effort.FULL:
        rows.append(("alpha1", "0.418", "0.424", 8))
    return [dict(zip(names, row, strict=True)) for row in rows]


def _typo(id: str, statement: str, evidence: tuple[Evidence, ...], note: str, formula: str) -> Claim:
    return mathematical(
        id, SOURCE, statement, *evidence, verdict=Verdict.TYPO, note=note, formula=formula, hypotheses=(SLICE,)
    )


MISSED = {"low": "99.97", "high": "99.995", "rest": 100}
PICTURE = {"rest": 0, "a": "1/2", "b": "1/2"}
OPPOSITE = {"a": "3/4", "b": "1/4"}

CLAIMS: tuple[Claim, ...] = (
    mathematical(
        "kv.listing_l.call", SOURCE, "The listing runs: f(X, Y, 0.00001, 0) calls f(alpha, beta, ot = 0).",
        Evidence(Kind.EXACT, "four arguments against the listed signature", checks.call_fails, ({"arguments": 4},),
                 (Control("three arguments", points=({"arguments": 3},)),
                  Control("a signature of four", lambda arguments: checks.call_fails(
                      arguments, checks.fitting_signature)))),
        verdict=Verdict.FALSE, nature=Nature.TEXTUAL, witness=Witness({"arguments": 4}),
        note="TypeError: the function takes two or three arguments, the call gives four.",
    ),
    mathematical(
        "kv.listing_l.exp_of_number", SOURCE, "With the call repaired it runs: torch.exp(ot) of a plain number.",
        Evidence(Kind.EXACT, "torch.exp of the numbers the listing and the figure use", checks.exp_fails,
                 tuple({"number": n} for n in (0, 0.00001, 10, 100.0)),
                 (Control("a tensor", lambda number: checks.exp_fails(number, as_tensor=True)),)),
        verdict=Verdict.FALSE, nature=Nature.TEXTUAL, witness=Witness({"number": 0}),
        note="TypeError: torch.exp takes a tensor, so ot must be one.",
    ),
    _typo("kv.listing_l.no2", "The exponent of token i is 2 a_1 beta1 + a_2 + beta2.",
          (symbolic("exponent of token i, all T", checks.term, ({"place": REPEATED},),
                    Control("a_2 + beta2, as printed", lambda place: checks.term(place, Slips(sum_for_product=True)))),
           _effect_evidence(Slips(sum_for_product=True), (0, 0.4168, 52.8, 87.6), (10, 0.1266, 38.5, 95.9),
                            (100, 0.0166, 31.1, 101.6))),
          "a_2 * beta2, as Eq. 10 has it.", r"2a_1\beta_1+a_2\beta_2"),
    _typo("kv.listing_l.no1", "The exponent of the tokens i - 1 and T is beta1/S + beta2 a_2.",
          (symbolic("exponent of those tokens, all T", checks.term, ({"place": EDGE},),
                    Control("a_2, as printed", lambda place: checks.term(place, Slips(alpha2_for_alpha1=True)))),
           _effect_evidence(Slips(alpha2_for_alpha1=True), (0, 0.1274, 51.0, 180.0), (10, 0.0152, 19.7, 180.0),
                            (100, 0.0003, 2.5, 179.6))),
          "beta2 a_1; the listing repeats the slip of Table 3 and Eq. 10.", r"\frac{\beta_1}{S}+\beta_2a_1"),
    _typo("kv.listing_l.exp_ot", "The tokens not named contribute e^{ot} to the denominator.",
          (symbolic("weight and exponent of the other tokens, all T", checks.whole, ({"place": OTHER},),
                    Control("e^{O(T)}, as printed", lambda place: checks.whole(place, Slips(exponential_rest=True)))),
           _effect_evidence(Slips(exponential_rest=True), (0, 0.1838, 2.0, 4.7), (10, 7.2939, 3.9, 15.3),
                            (100, 95.3461, 0.5, 12.7))),
          "(T - 4) e^{1/S}; the exponential of a constant of order T dwarfs every other term.", r"(T-4)e^{1/S}"),
    _typo("kv.listing_l.one_ot", "The constant of S is the one of the denominator.",
          (symbolic("exponents of all classes, S = 2 e^{alpha1} + e^{alpha2} + T - 2, all T", checks.whole,
                    tuple({"place": place} for place in (REPEATED, EDGE, OTHER)),
                    Control("T - 4 in S", lambda place: checks.whole(place, Slips(rest_in_partition=True)))),
           _effect_evidence(Slips(rest_in_partition=True), (0, 0.062, 1.9, 7.4), (10, 0.0123, 0.1, 0.6),
                            (100, 0.0003, 0.0, 0.0))),
          "T - 2 in S, while T - 4 tokens share the remaining logit.", r"S=2e^{\alpha_1}+e^{\alpha_2}+T-2"),
    mathematical(
        "kv.listing_l.picture", SOURCE, "Once it runs, the listing draws the loss of Theorem 3.4.",
        Evidence(Kind.CERTIFIED, "balls of both losses at rational points, O(T) = T - 4", checks.loss_differs,
                 (PICTURE, {"rest": 10, "a": "1/2", "b": "1/2"}, {"rest": 100, "a": "0", "b": "1"}),
                 (Control("all slips put right", lambda rest, a, b: checks.loss_differs(rest, a, b, EXACT)),)),
        _effect_evidence(LISTING, (0, 0.6952, 61.5, 150.3), (10, 7.2865, 3.6, 12.7), (100, 95.3459, 0.5, 12.5)),
        verdict=Verdict.FALSE, witness=Witness(PICTURE), correction="kv.listing_l.picture.corrected",
        hypotheses=(SLICE,),
        note="At O(T) = 0 its directions of descent are 61.5 degrees off on average, 150 at worst; at larger O(T) "
             "e^{ot} hides the other slips.",
        formula=r"L_{\mathrm{listing}}=L",
    ),
    mathematical(
        "kv.listing_l.picture.corrected", SOURCE + ", corrected",
        "With the four slips put right and O(T) = T - 4 outside S, the listing's loss is that of the corrected Eq. 10.",
        symbolic("every class: weight and exponent, all T", checks.whole,
                 tuple({"place": place} for place in (REPEATED, EDGE, OTHER)),
                 *(Control(f"with {name} left", lambda place, name=name: checks.whole(place, Slips(**{name: True})))
                   for name in Slips._fields)),
        is_correction=True, hypotheses=(SLICE,),
        formula=r"L=\log\left(1+e^{l_i-l_{i+1}}+2e^{l_T-l_{i+1}}+(T-4)e^{l_o-l_{i+1}}\right),\quad S"
        r"=2e^{\alpha_1}+e^{\alpha_2}+T-2",
    ),
    mathematical(
        "kv.listing_l.non_monotone", SOURCE,
        "The non-monotone learning that the listing shows at O(T) = 0 is that of the loss.",
        Evidence(Kind.CERTIFIED,
                 "areas of the wrong sign as listed: alpha1 42.1 %, beta1 none (the loss itself: 1.3 % and 28.4 %)",
                 checks.listing_wrong_way, _areas, (Control("the loss at T = 4", checks.exact_wrong_way),)),
        Evidence(Kind.EXACT, "balls of both slopes in alpha1 at (3/4, 1/4): opposite signs", checks.opposite_slopes,
                 (OPPOSITE,), (Control("at (1/4, 3/4)", points=({"a": "1/4", "b": "3/4"},)),)),
        verdict=Verdict.FALSE, correction="kv.fig2.non_monotone", hypotheses=(SLICE,),
        witness=Witness(OPPOSITE, checks.opposite_slopes),
        note="An artefact: the listing lets alpha1 go the wrong way on 42.1 % of the box and beta1 nowhere; the loss "
             "at T = 4 does so on 1.3 % and 28.4 %.",
        formula=r"\mathrm{sign}\,\nabla L_{\mathrm{listing}}=\mathrm{sign}\,\nabla L,\quad O(T)=0",
    ),
    mathematical(
        "kv.listing_l.levels", SOURCE,
        "The levels arange(0, 10, 0.05) show the contour lines at every O(T) of the figure.",
        Evidence(Kind.CERTIFIED, "no level in the range of the listed loss at O(T) = 100, nor of the loss at T = 104",
                 checks.levels_missed, (MISSED, {"low": "4.62", "high": "4.649", "rest": 100, "listed": False}),
                 (Control("O(T) = 10", points=({"low": "9.81", "high": "9.945", "rest": 10},)),)),
        Evidence(Kind.EXACT, "the levels k/20 below 10 in that range, counted", checks.lines_drawn, (MISSED,),
                 (Control("O(T) = 10", points=({"low": "9.81", "high": "9.945", "rest": 10},)),)),
        verdict=Verdict.FALSE, nature=Nature.EMPIRICAL, hypotheses=(SLICE,),
        witness=Witness(MISSED, checks.lines_drawn),
        note="At O(T) = 100 the listed loss lies between 99.97 and 99.995 (the exact one at T = 104 between 4.62 and "
             "4.649): not one contour line is drawn.",
    ),
)  # fmt: skip
