"""Rulings that once were otherwise: the verdict, severity and conditions that they must keep."""

import re

from proofs_check.ledger.claim import Extent, Kind, Nature, Severity, Verdict
from proofs_check.ledger.registry import load
from proofs_check.ledger.rows import decided, printed, record
from proofs_check.ledger.store import judge

REGISTRY = load()
MISPRINT, CODE = (Verdict.TYPO, Severity.MISPRINT), (Verdict.TYPO, Severity.CODE)
FALSE, HOLDS_IF = Verdict.FALSE, Verdict.HOLDS_IF


def _rows(table):
    return [row.split(" | ") for row in table.strip().splitlines()]


RULINGS = {
    (Verdict.HOLDS, None): [
        "kv.appF.independent",
        "kv.appH.out_of_memory",
        "kv.appJ.compatible",
        "kv.appN.base",
        "kv.appJ.bottleneck",
        "kv.eq10.rest",
        "kv.fig1.twice.depth",
        "kv.fig1.twice.width",
        "kv.fig2.slice",
        "kv.fn6",
        "kv.sec2.1.width",
        "kv.sec3.2.parallel",
        "kv.sec3.2.superposition",
        "kv.sec3.2.vocabulary",
        "kv.sec4.1.batch",
        "kv.sec4.2.lambada",
        "kv.tab14.in_context",
        "kv.tab15.grows",
        "kv.tab16.schedule",
        "kv.tab5.asymmetry",
        "kv.thm3.4.coverage",
        "kv.thm3.4.minimum",
        "razor.appA.square",
        "waiver.eq11",
        "resformer.sec4.1.decay",
        "resformer.sec4.7.summed",
        "resformer.secA.4.data",
        "resformer.secA.5.tokens",
    ],
    (HOLDS_IF, Severity.REPAIRABLE): [
        "kv.appA.first_layer",
        "kv.appA.masks",
        "kv.appA.step1",
        "kv.appA.step4",
        "kv.appA.step5",
        "kv.appC.footnote12",
        "kv.eq8.domain",
        "kv.fig2.closer",
        "kv.sec3.1.any_context",
        "kv.sec3.1.equal_sign",
        "kv.sec3.1.finite_length",
        "kv.sec3.1.less_depth",
        "kv.sec3.1.less_width",
        "kv.thm3.2",
        "kv.thm3.3",
        "kv.thm3.4",
        "razor.sec3.1.discard",
        "razor.sec3.1.minimal",
    ],
    (HOLDS_IF, Severity.READING): [
        "kv.appH.almost_every",
        "kv.appM.init",
        "kv.appM.return",
        "kv.eq11.normaliser",
        "kv.fig1.same_total",
        "kv.sec2.1.must_integrate",
        "kv.sec3.3.keep",
        "kv.sec3.3.key_pairs",
        "kv.sec3.3.value_pairs",
        "kv.sec5.query_kernel",
        "kv.tab5.lower_left",
        "kv.tab5.same_token",
        "kv.tab5.upper_right",
        "kv.thm3.4.small_t",
        "razor.sec1.range",
        "waiver.eq8",
        "waiver.sec3.2.smaller",
        "waiver.sec3.3.2.impossible",
        "resformer.eq9",
        "resformer.sec3.1.doubles",
        "resformer.tab3.accumulation",
    ],
    (HOLDS_IF, Severity.ARITHMETIC): [
        "kv.sec4.1.names",
        "kv.tab16.names",
        "resformer.sec4.1.epoch",
        "resformer.secA.4.billion",
    ],
    (FALSE, Severity.REPAIRABLE): ["kv.sec2.2.initial_state", "kv.sec4.1.vocabulary"],
    (FALSE, Severity.CODE): ["kv.appM.inference", "kv1.appF.inference"],
    (FALSE, Severity.ARITHMETIC): [
        "kv.fig5.batch",
        "kv.sec4.1.machines.from_scratch",
        "kv.sec4.1.warm_up",
        "resformer.sec4.2.validation",
        "resformer.sec4.4.gain",
        "resformer.tab4.warmup",
    ],
    MISPRINT: [
        "kv.appA.reference",
        "kv.appB.beta1",
        "kv.appC.error_term",
        "kv.appJ.rope_dimensions",
        "kv.appK.tokens",
        "kv.eq10",
        "kv.eq11",
        "kv.eq12",
        "kv.eq6.sigma",
        "kv.fn3.reference",
        "kv.listing_l.no1",
        "kv.sec2.1.reference",
        "kv.sec3.2.reference",
        "kv.sec3.reference",
        "kv.sec5.fusion_reference",
        "kv.tab16.optimizer",
        "waiver.sec1.weights",
        "waiver.sec3.2.transposed",
        "waiver.sec3.3.1.last",
        "resformer.eq11.higher",
        "resformer.eq11.importance",
        "resformer.sec4.3.label",
        "kv.tab3",
    ],
    CODE: [
        "kv.appK.random",
        "kv.appM.forward",
        "kv.appM.import",
        "kv.listing_l.call",
    ],
    (Verdict.UNSETTLED, None): [
        "razor.fig2.reduction",
        "razor.sec1.proved",
        "razor.tab1.compensated",
        "razor.tab3.comparable",
        "waiver.sec4.1.characters",
        "resformer.abstract.downstream",
        "resformer.abstract.svformer",
        "resformer.secA.4.proportions",
    ],
}

# What the papers do not say, and readings that fail: statements of ours.
OURS = [
    "kv.appA.step7.uniform",
    "kv.appN.base.shortfall",
    "kv.eq10.rest.two",
    "kv.eq5.one_mixture",
    "kv.eq8.domain.unbounded",
    "kv.fig2.two_tokens.learns",
    "kv.listing_l.levels",
    "kv.sec3.1.any_context.equal_weights",
    "kv.tab14.in_context.shots",
    "kv.tab16.names.printed_vocabulary",
    "kv.tab5.asymmetry.chance",
    "razor.abstract.information.cut",
    "razor.sec1.proved.pointwise",
    "razor.sec3.1.domination.wider",
    "razor.sec3.2.raw_range",
    "razor.sec3.2.seventy.never",
    "razor.tab3.comparable.averages",
    "waiver.eq11.layers",
    "waiver.sec3.3.2.impossible.word",
    "resformer.eq13.similarity",
    "resformer.sec3.1.doubles.long",
]

# Sentences of the paper that training here once ruled on, and the outcome that now stands beside each.
OUTCOMES = {
    "kv.fig1a.four_layers": "kv.fig1a.four_layers.here",
    "kv.fn7": "kv.fig4c.robust.trained",
    "kv.fig8.five_layers": "kv.fig8.five_layers.origin",
    "kv.fig9": "kv.fig9.no_gain",
    "kv.appE.fusion": "kv.fig9.text",
    **{
        f"kv.{place}": f"kv.{place}.trained"
        for place in (
            *(f"fig1a.{name}" for name in ("kv_shift", "one_layer", "faster", "two_layers")),
            *(f"fig1b.{name}" for name in ("width", "poor", "answers", "kv_shift")),
            *("fig4b", "fig4c", "fig8.bias", "fig9.unlike_fig1a"),
            *(f"appE.{name}" for name in ("one_layer", "bottleneck", "positions")),
            *("appF.sums", "appF1.more_controls", "appG.placement", "sec4.5.longer_window"),
            *(f"sec3.3.{name}" for name in ("fusion", "decoupling", "slower")),
            *(f"sec5.{name}" for name in ("adjacent", "not_fusion", "decoupling")),
        )
    },
}

# id, field, words that must stand there: what a statement is about, and the conditions that it needs
SAID = _rows(r"""
kv.appC.error_term.corrected | formula | 2\alpha_1^2+\alpha_2^2
kv.appM.inference | why | unless alpha1 = alpha2
kv.beyond.time.gap | hypotheses | alpha1 - beta1 <= 4/5
kv.beyond.time.integral | hypotheses | beta1 >= 0
kv.beyond.time.lower | hypotheses | stays in R
kv.beyond.time.rate | hypotheses | alpha1 - beta1 <= 4/5
kv.beyond.time.stays | hypotheses | alpha1 - beta1 <= 4/5
kv.beyond.time.stays | statement | alpha1 - beta1 <= 4/5
kv.fig2.closer | statement | On the slice and as T grows
kv.fig2.non_monotone | note | i = 2
kv.fig2.untrained | note | i <= T - 2
kv.fig4c.trained | statement | diverge
kv.fig4c.trained | statement | vanilla attention (2 layers)
kv.fig8.five_layers.origin | statement | cited authors
kv.fig8.heads | statement | cited authors
kv.thm3.2 | note | {2..L-1}
razor.eq4.rotary.dependent | hypotheses | 2 pi
kv.thm3.3 | why | Eq. 6
kv.thm3.4.mean | statement | differs from L by at most
razor.eq4.rotary.limit | hypotheses | 2 pi
razor.sec3.1.budget | statement | at most 1 in every head
razor.sec3.1.budget_saving | statement | a mass of at most 1
razor.sec3.1.discard | note | at least the range D
razor.sec3.1.minimal | note | range D
razor.sec4.1.group_window | statement | 1.2728
razor.thm1.one_size | statement | one sign
razor.trained.learnt | hypotheses | with needles
waiver.eq11.layers | hypotheses | every layer and head
waiver.eq11.layers | hypotheses | logits
resformer.eq11.higher | statement | the greater the degree of clustering
resformer.eq11.importance | statement | sum_{j=1}^l A_ij
resformer.sec4.5.disrupts | note | not drained
""")
NOT_SAID = _rows("""
kv.beyond.box.minimiser | hypotheses | 512
kv.beyond.time.not_ahead | hypotheses | size
kv.beyond.time.sides | hypotheses | Interval
kv.fig2.consistent | note | whole box
kv.fn10.confounded.trained | statement | is confounded
kv.sec2.1.width | statement | 2d
kv.sec3.2.superposition | statement | N/D
kv.beyond.time.lower | statement | flows from the slice of the box stay
razor.eq5.gaps | statement | reached
waiver.sec2.2.removed | why | numerical
resformer.eq10.cache | statement | (2L)
""")
# What a statement as data is about, in its own words: hypotheses, and rows of every kind.
AS_DATA = _rows("""
resformer.beyond.smoothing | 1 <= p <= n
resformer.eq10.cache | tends to 1/2
resformer.eq10.grouped | 1 <= g <= h
resformer.eq11.rows | 1 <= q <= n
""")

# Balls by one program are exact, not certified.
NOT_CERTIFIED = [
    "kv.appN.base",
    "kv.appN.base.corrected",
    "kv.appN.default_base",
    "kv.beyond.slice.infimum",
    "kv.eq12",
    "kv.fig2.closer",
    "kv.fig2.two_tokens.loss",
    "kv.listing_l.picture",
    "kv.thm3.2",
]
EXACT = ["kv.fig8.five_layers.origin", "kv.fig8.heads",
         *(f"kv.beyond.slice.{name}" for name in ("fold", "saddle", "minimum", "two"))]  # fmt: skip
SIZES = (
    r"width|parameters|d = ",
    r"vocabulary|tokens|letters|keys|T = ",
    r"steps|shipped results|t = ",
    r"seed|runs|tables",
)
RAZOR_SIZES = ("layers", "heads", "seed", "steps")


def kinds(claim):
    return {evidence.kind for evidence in claim.evidence}


def written(name, field):
    value = getattr(REGISTRY[name], field)
    return value if isinstance(value, str) else " ".join(map(str, value))


def words(claim):
    return " ".join([claim.statement, *map(str, claim.hypotheses), *(evidence.scope for evidence in claim.evidence)])


def broken():
    """Every ruling of the table that is not as it stands there."""
    for ruling, names in RULINGS.items():
        yield from (name for name in names if (REGISTRY[name].verdict, REGISTRY[name].severity) != ruling)
    yield from (name for name in OURS if not REGISTRY[name].is_correction)
    yield from (found for found in SAID if found[2] not in written(*found[:2]))
    yield from (found for found in NOT_SAID if found[2] in written(*found[:2]))
    yield from (name for name, words in AS_DATA if words not in printed(REGISTRY[name].formal))
    yield from (name for name in NOT_CERTIFIED if Kind.CERTIFIED in kinds(REGISTRY[name]))
    yield from (name for name in EXACT if kinds(REGISTRY[name]) != {Kind.EXACT})
    yield from (name for name in RULINGS[FALSE, Severity.ARITHMETIC] if REGISTRY[name].nature is not Nature.TABLE)
    needed = (c for c in map(REGISTRY.get, RULINGS[HOLDS_IF, Severity.ARITHMETIC]) if c.case is None)
    yield from (claim.id for claim in needed if not claim.hypotheses)


def test_every_ruling_is_kept():
    assert list(broken()) == []


def test_the_sentence_is_unsettled_and_the_outcome_stands_beside_it():
    assert len(OUTCOMES) == 30
    for paper, ours in OUTCOMES.items():
        quoted, found = REGISTRY[paper], REGISTRY[ours]
        assert quoted.verdict is Verdict.UNSETTLED and not quoted.is_correction, paper
        assert kinds(quoted) == {Kind.READ} and quoted.coverage is None, paper
        assert found.is_correction and found.verdict is Verdict.HOLDS and found.outcome_of == paper, paper


def test_outcomes_of_training_are_ours_and_name_their_sizes():
    trained = [claim for claim in REGISTRY.values() if Kind.TRAINED in kinds(claim)]
    assert len(trained) > 50 and all(claim.is_correction for claim in trained)
    for claim in trained:
        if claim.paper in ("kv", "kv1"):
            assert claim.coverage.extent is Extent.SAMPLES
        sizes = RAZOR_SIZES if claim.paper == "razor" else SIZES
        missing = [size for size in sizes if not re.search(size, words(claim))]
        assert not missing, (claim.id, missing)


def test_coverage_is_what_the_evidence_reached():
    for name in ("kv.beyond.time.gap", "kv.beyond.time.rate", "kv.beyond.time.stays"):
        assert REGISTRY[name].coverage.extent is Extent.SAMPLES
    for name in ("kv.appC.logits", "kv.appC.every_position", "kv.fig2.caption"):
        assert REGISTRY[name].coverage.extent is Extent.ALL
    corrected = REGISTRY["kv.eq10.corrected"]
    found = decided(record(corrected, REGISTRY), judge(corrected.formal.to_json(), mutants=False))
    assert (found.strength, found.coverage) == ("proved", "all")
    assert REGISTRY["kv.sec3.1.any_context"].coverage == REGISTRY["kv.sec3.1.finite_length"].coverage


def test_steps_that_the_proof_needs_are_the_only_false_mathematics_of_razor():
    false = [claim for claim in REGISTRY.values() if claim.paper == "razor" and claim.verdict is FALSE]
    steps = {"thm1", "appA.positive", "appA.last_step", "eq7.gain", "eq7", "eq8"}
    assert {claim.id for claim in false if claim.severity is Severity.BREAKS} == {f"razor.{name}" for name in steps}
    assert {claim.severity for claim in false} == {Severity.BREAKS, Severity.ARITHMETIC}
