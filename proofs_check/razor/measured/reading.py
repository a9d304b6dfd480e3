"""What single heads of small trained models read, beside RazorAttention's sentences on the heads of large ones.

Evidence re-reads the shipped measurements, whose bytes are checked (`python -m scripts study compare` makes them
afresh).
"""

import itertools
from fractions import Fraction
from functools import cache
from typing import Any

from proofs_check.evidence.margin import Margin, at_most, less, same, worst
from proofs_check.ledger.claim import Claim, Control
from proofs_check.razor.measured.trained import read, trained

SCALE = (
    "32 windows of text and 32 of needles, 256 questions, context 256 bytes, 3 seeds, 450 steps, shipped results; "
    "a cut head keeps four sinks and 47 tokens, no compensation token"
)
THREE = "In three four-layer ALiBi models of 32 heads "
SEEDS = tuple({"seed": seed} for seed in range(3))


def three_models(
    id: str, source: str, says: str, scope: str, margin: Any, *controls: Control, points: Any = SEEDS, **rest: Any
) -> Claim:
    """An outcome in the models of all seeds, by one piece of evidence."""
    return trained(id, source, THREE + says, read(scope, margin, points, *controls, scale=SCALE), **rest)


def _each(**rest: Any) -> tuple[dict, ...]:
    return tuple({**point, **rest} for point in SEEDS)


@cache
def _reading() -> Any:
    from dynamics.comparison.head_reading import read_reading

    return read_reading()


def _model(seed: int) -> Any:
    return next(model for model in _reading().models if model.seed == seed)


def _share(hits: int) -> Fraction:
    return Fraction(hits, _reading().questions)


def _head(model: Any, at: tuple[int, int]) -> Any:
    return next(head for head in model.heads if (head.layer, head.head) == tuple(at))


def _finder(model: Any) -> Any:
    return _head(model, model.finder.heads[0])


def _protected(model: Any) -> list[Any]:
    return [_head(model, at) for at in model.protected.heads]


def local_heads(seed: int, share: float, number: int) -> Margin:
    """So many heads give at least this share of their weight to the sinks and the window."""
    return same(sum(head.local >= share for head in _model(seed).heads), number)


def diffuse_heads(seed: int, most: float = 0.45, unprotected: int = 4) -> Margin:
    """The heads of the two gentlest slopes of each layer give less than `most` to sinks and window, all others more; at
    least `unprotected` of them are outside the protected set, and one at most answers a third of the questions."""
    model = _model(seed)
    gentle = sorted({head.slope for head in model.heads})[:2]
    diffuse = [head for head in model.heads if head.slope in gentle]
    others = [head for head in model.heads if head.slope not in gentle]
    protected = set(model.protected.heads)
    outside = sum((head.layer, head.head) not in protected for head in diffuse)
    return worst(
        [
            less(max(head.local for head in diffuse), most),
            less(most, min(head.local for head in others)),
            at_most(unprotected, outside),
            at_most(sum(_share(head.whole) > Fraction(1, 3) for head in diffuse), 1),
        ]
    )


def one_finds(seed: int, rest: Fraction = Fraction(1, 3)) -> Margin:
    """One head whole alone answers 99 % of the questions or more, every other at most `rest`; cut alone it leaves at
    most `rest`, and every other cut alone 99 % or more."""
    model, alone = _model(seed), Fraction(99, 100)
    finder = _finder(model)
    others = [head for head in model.heads if head is not finder]
    return worst(
        [
            at_most(alone, _share(finder.whole)),
            at_most(_share(max(head.whole for head in others)), rest),
            at_most(_share(finder.cut), rest),
            at_most(alone, _share(min(head.cut for head in others))),
        ]
    )


def one_of_the_protected(seed: int, capable: int = 1) -> Margin:
    """The protected heads together answer all, and so many of them more than half when whole alone."""
    model = _model(seed)
    found = sum(_share(head.whole) > Fraction(1, 2) for head in _protected(model))
    return worst([same(_share(model.protected.hits), Fraction(1)), same(found, capable)])


def concentrated(seed: int, least: float = 0.97, others: int = 1) -> Margin:
    """The finder head gives the asked value at least the weight `least` on average, and its largest weight at every
    question. At most `others` of the other protected heads give it more than half of their weight."""
    model = _model(seed)
    finder = _finder(model)
    half = sum(head.needle > 0.5 for head in _protected(model) if head is not finder)
    return worst([at_most(least, finder.needle), same(finder.first, _reading().questions), at_most(half, others)])


def probability(seed: int, cut: str = "but_finder", kept: str = "finder") -> Margin:
    """Mean probability of the answers: at least .99 in full and with all but the finder cut, at most .3 without it."""
    model = _model(seed)
    values = model.full.probability, getattr(model, kept).probability, getattr(model, cut).probability
    return worst([at_most(0.99, values[0]), at_most(0.99, values[1]), at_most(values[2], 0.3)])


def others_do_not_find(seed: int, group: str = "others") -> Margin:
    """With the protected heads cut and the others whole at most 8 % are answered, and the text takes 0.01 to 0.04 more
    bits a byte than in full; the protected whole and the others cut all are answered."""
    model = _model(seed)
    found = getattr(model, group)
    more = found.bits - model.full.bits
    return worst(
        [
            at_most(_share(found.hits), Fraction(8, 100)),
            at_most(0.01, more),
            at_most(more, 0.04),
            same(_share(model.protected.hits), Fraction(1)),
        ]
    )


def finder_layer(seed: int, layer: int = 0) -> Margin:
    return same(_finder(_model(seed)).layer, layer)


def scope_rank(seed: int, rank: int, share: str) -> Margin:
    """The finder's rank by printed scope, and what the six heads of the largest answer, in whole per cent."""
    model = _model(seed)
    order = next(kept for kept in model.scoped if len(kept.heads) == len(model.heads)).heads
    kept = next(kept for kept in model.scoped if len(kept.heads) == 6)
    found = list(order).index(model.finder.heads[0]) + 1, str(round(100 * _share(kept.hits)))
    return same(found, (rank, share))


def known_query_serves_one(seed: int, later: Fraction = Fraction(1, 10), first: str = "first") -> Margin:
    """SnapKV: all first questions are answered, at most `later` of the later ones, and of the first where the prompt
    ends before it."""
    known = _model(seed).known
    rows = _reading().settings.needle_rows
    return worst(
        [
            same(getattr(known, first), rows),
            at_most(Fraction(known.later, _reading().questions - rows), later),
            at_most(Fraction(known.unasked, rows), later),
        ]
    )


def held_elsewhere(seed: int, held: int = 220, by_finder: int = 60) -> Margin:
    """Heavy hitters: 95 % of the tokens are in some head at the end, so many values in some head when asked for, so few
    in the finder, all of which are answered, and so few in all."""
    evicted = _model(seed).evicted
    return worst(
        [
            at_most(0.95, evicted.kept),
            at_most(held, evicted.held),
            at_most(evicted.held_by_finder, by_finder),
            same(evicted.hits_by_finder, evicted.held_by_finder),
            at_most(evicted.hits, 75),
        ]
    )


def in_steps(seed: int, order: str = "ranked") -> Margin:
    """With more heads whole no fewer questions are answered; up to the finder at most a third, from it on 99 %."""
    model = _model(seed)
    curve = getattr(model, order)
    hits = [kept.hits for kept in curve]
    at = next(i for i, kept in enumerate(curve) if model.finder.heads[0] in kept.heads)
    rises = at_most(0, min(after - before for before, after in itertools.pairwise(hits)))
    entered = same(len(curve[at].heads) - len(curve[at - 1].heads), 1)
    before, after = (_share(hits[i]) for i in (at - 1, at))
    return worst([rises, entered, at_most(before, Fraction(1, 3)), at_most(Fraction(99, 100), after)])


CLAIMS: tuple[Claim, ...] = (
    three_models(
        "razor.reading.local",
        "RazorAttention, Abstract and Section 1",
        "24 heads give at least half of their weight on text to a fifth of the context, recent bytes and "
        "sinks, and 16 of them at least 90 %.",
        "weights of the last 128 queries of each window",
        local_heads,
        Control("25 heads", points=_each(share=0.5, number=25)),
        Control("24 heads at 90 %", points=_each(share=0.9, number=24)),
        points=(*_each(share=0.5, number=24), *_each(share=0.9, number=16)),
        outcome_of="razor.sec1.local",
        note="Even attention would give 28 %. ALiBi makes heads local by its slopes.",
    ),
    three_models(
        "razor.reading.diffuse",
        "RazorAttention, Sections 1 and 3.2",
        "eight, those of the two gentlest slopes of each layer, give less than 45 % to recent bytes and sinks: "
        "neither local nor sink heads; at least four of them are not protected and one at most retrieves.",
        "weights of the last 128 queries of each window, and each head whole alone",
        diffuse_heads,
        Control("less than 35 %", lambda seed: diffuse_heads(seed, most=0.35)),
        Control("all eight outside the protected set", lambda seed: diffuse_heads(seed, unprotected=8)),
        outcome_of="razor.sec1.rest_local",
    ),
    three_models(
        "razor.reading.few",
        "RazorAttention, Abstract, Section 1 and Table 1",
        "one retrieves: whole alone it answers at least 99 % of the questions and every other at most a third; "
        "cut alone it leaves at most a third and every other at least 99 %.",
        "each head whole alone, and each cut alone",
        one_finds,
        Control("others at most a tenth", lambda seed: one_finds(seed, rest=Fraction(1, 10))),
        outcome_of="razor.sec1.few",
        note="Fewer than the paper's few: one of 32.",
    ),
    three_models(
        "razor.reading.protected",
        "RazorAttention, Section 3.2 and Table 2",
        "the six that the rule of Table 2 protects answer all questions, and only one of them more than half "
        "when whole alone: 15 % suffice, and most of these are not capable.",
        "the protected set, and its heads one by one",
        one_of_the_protected,
        Control("two of them", lambda seed: one_of_the_protected(seed, capable=2)),
        outcome_of="razor.sec3.2.fifteen",
    ),
    three_models(
        "razor.reading.concentrates",
        "RazorAttention, Section 1",
        "the one that retrieves gives the value asked for at least 97 % of its weight on average, and its "
        "largest weight at every question; of the other five protected heads one at most gives more than half.",
        "weights of the questions on the planted values",
        concentrated,
        Control("99.95 %", lambda seed: concentrated(seed, least=0.9995)),
        Control("none of the others", lambda seed: concentrated(seed, others=0)),
        outcome_of="razor.sec1.concentrates",
    ),
    three_models(
        "razor.reading.probability",
        "RazorAttention, Section 1",
        "the mean probability of the answers falls from at least 0.99 to at most 0.3 when the one that "
        "retrieves is cut, and stays at 0.99 or more when all the others are.",
        "softmax of the model's output at the questions",
        probability,
        Control("exchanged", lambda seed: probability(seed, cut="finder", kept="but_finder")),
        outcome_of="razor.sec1.probability",
    ),
    three_models(
        "razor.reading.others",
        "RazorAttention, Section 1",
        "the 26 that are not protected answer at most 8 % of the questions, where guessing gives 6.25 %, and "
        "use remote text: with them whole and the protected six cut, 0.01 to 0.04 bits a byte are lost, not all.",
        "the protected cut and the others whole; the others cut and the protected whole",
        others_do_not_find,
        Control("the protected", lambda seed: others_do_not_find(seed, group="protected")),
        outcome_of="razor.sec1.cannot_use",
        note="With all 32 cut 0.033 to 0.047 bits are lost, with the 26 cut 0.008 to 0.015.",
    ),
    three_models(
        "razor.reading.layer",
        "RazorAttention, Section 1",
        "the one that retrieves lies in the first layer.",
        "the layer of the head that answers most when whole alone",
        finder_layer,
        Control("the second", lambda seed: finder_layer(seed, layer=1)),
        outcome_of="razor.sec1.retrieve_process",
        note="Consistent with retrieving first and processing later; no test of it.",
    ),
    three_models(
        "razor.reading.scope_rank",
        "RazorAttention, Section 3.1",
        "the one that retrieves ranks 17th, 11th and 3rd by the L_h of Eq. 2, and the six heads of the "
        "largest L_h answer 7 %, 31 % and 100 % of the questions: the largest L_h do not name it.",
        "Eq. 2 on the trained weights, W_K times |alpha_1| + |alpha_2| for shifted keys",
        scope_rank,
        Control("the second model's for the first", points=({"seed": 0, "rank": 11, "share": "31"},)),
        points=(
            {"seed": 0, "rank": 17, "share": "7"},
            {"seed": 1, "rank": 11, "share": "31"},
            {"seed": 2, "rank": 3, "share": "100"},
        ),
        note="The four largest L_h are always those of the slope 1/256: the order is mostly that of the slopes. Six "
        "heads by their scores answer all.",
    ),
    three_models(
        "razor.reading.known",
        "RazorAttention, Figure 2 and Section 4",
        "SnapKV without pooling, at 32 % of the memory, answers the question at the end of its prompt in all "
        "32 windows, and at most a tenth of the later ones and of those asked just after the prompt; guessing gives "
        "6.25 %.",
        "16 last tokens of the prompt choose 65 earlier ones a head; the cut is in force from the prompt's end on",
        known_query_serves_one,
        Control("a question after the prompt", lambda seed: known_query_serves_one(seed, first="unasked")),
        Control("a hundredth of the later ones", lambda seed: known_query_serves_one(seed, Fraction(1, 100))),
        outcome_of="razor.fig2.snapkv",
    ),
    three_models(
        "razor.reading.evicted",
        "RazorAttention, Figure 2, Sections 4.2 and 5",
        "heavy hitters at 32 % of the memory leave 95 % of all tokens in some head, and at least 220 of 256 values "
        "in some head when asked for, but 31 to 60 in the one that retrieves: these are answered, 75 at most in all.",
        "the evicted sets of every head, step by step",
        held_elsewhere,
        Control("250 values in some head", lambda seed: held_elsewhere(seed, held=250)),
        Control("30 in the one that retrieves", lambda seed: held_elsewhere(seed, by_finder=30)),
        outcome_of="razor.fig2.importance",
        note="What is lost is less the token than its place in the head that can use it; guessing answers 16 of 256.",
    ),
    three_models(
        "razor.reading.continuous",
        "RazorAttention, Section 4.3.2",
        "more whole heads in the order of induction scores never answer fewer questions, but not continuously more: "
        "at most a third until the one that retrieves comes in, at least 99 % from then on.",
        "0, 1, 2, 3, 4, 5, 6, 8, 12, 16, 24 and 32 whole heads",
        in_steps,
        Control("the order of L_h", lambda seed: in_steps(seed, order="scoped")),
        outcome_of="razor.tab4",
    ),
)
