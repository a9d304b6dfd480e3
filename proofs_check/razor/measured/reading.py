"""What single heads of small trained models read, beside RazorAttention's sentences on the heads of large ones.

Evidence re-reads the shipped measurements, whose bytes are checked (`python -m scripts study compare` makes them
afresh).
"""

from fractions import Fraction
from typing import Any

from proofs_check.ledger.claim import Claim, Control, Evidence, Kind
from proofs_check.razor.measured import reading_checks as c
from proofs_check.razor.measured.reading_checks import SEEDS
from proofs_check.razor.measured.trained import trained

SCALE = (
    "32 windows of text and 32 of needles, 256 questions, context 256 bytes, 3 seeds, 450 steps, shipped results; "
    "a cut head keeps four sinks and 47 tokens, no compensation token"
)
THREE = "In three four-layer ALiBi models of 32 heads "


def read(scope: str, margin: Any, *controls: Control, points: Any = SEEDS) -> Evidence:
    return Evidence(Kind.TRAINED, f"{scope}; {SCALE}", margin, points, controls)


def _each(**rest: Any) -> tuple[dict, ...]:
    return tuple({**point, **rest} for point in SEEDS)


CLAIMS: tuple[Claim, ...] = (
    trained(
        "razor.reading.local",
        "RazorAttention, Abstract and Section 1",
        THREE + "24 heads give at least half of their weight on text to a fifth of the context, recent bytes and "
        "sinks, and 16 of them at least 90 %.",
        read(
            "weights of the last 128 queries of each window",
            c.local_heads,
            Control("25 heads", points=_each(share=0.5, number=25)),
            Control("24 heads at 90 %", points=_each(share=0.9, number=24)),
            points=(*_each(share=0.5, number=24), *_each(share=0.9, number=16)),
        ),
        outcome_of="razor.sec1.local",
        note="Even attention would give 28 %. ALiBi makes heads local by its slopes.",
    ),
    trained(
        "razor.reading.diffuse",
        "RazorAttention, Sections 1 and 3.2",
        THREE + "eight, those of the two gentlest slopes of each layer, give less than 45 % to recent bytes and sinks: "
        "neither local nor sink heads; at least four of them are not protected and one at most retrieves.",
        read(
            "weights of the last 128 queries of each window, and each head whole alone",
            c.diffuse_heads,
            Control("less than 35 %", lambda seed: c.diffuse_heads(seed, most=0.35)),
            Control("all eight outside the protected set", lambda seed: c.diffuse_heads(seed, unprotected=8)),
        ),
        outcome_of="razor.sec1.rest_local",
    ),
    trained(
        "razor.reading.few",
        "RazorAttention, Abstract, Section 1 and Table 1",
        THREE + "one retrieves: whole alone it answers at least 99 % of the questions and every other at most a third; "
        "cut alone it leaves at most a third and every other at least 99 %.",
        read(
            "each head whole alone, and each cut alone",
            c.one_finds,
            Control("others at most a tenth", lambda seed: c.one_finds(seed, rest=Fraction(1, 10))),
        ),
        outcome_of="razor.sec1.few",
        note="Fewer than the paper's few: one of 32.",
    ),
    trained(
        "razor.reading.protected",
        "RazorAttention, Section 3.2 and Table 2",
        THREE + "the six that the rule of Table 2 protects answer all questions, and only one of them more than half "
        "when whole alone: 15 % suffice, and most of these are not capable.",
        read(
            "the protected set, and its heads one by one",
            c.one_of_the_protected,
            Control("two of them", lambda seed: c.one_of_the_protected(seed, capable=2)),
        ),
        outcome_of="razor.sec3.2.fifteen",
    ),
    trained(
        "razor.reading.concentrates",
        "RazorAttention, Section 1",
        THREE + "the one that retrieves gives the value asked for at least 97 % of its weight on average, and its "
        "largest weight at every question; of the other five protected heads one at most gives more than half.",
        read(
            "weights of the questions on the planted values",
            c.concentrated,
            Control("99.95 %", lambda seed: c.concentrated(seed, least=0.9995)),
            Control("none of the others", lambda seed: c.concentrated(seed, others=0)),
        ),
        outcome_of="razor.sec1.concentrates",
    ),
    trained(
        "razor.reading.probability",
        "RazorAttention, Section 1",
        THREE + "the mean probability of the answers falls from at least 0.99 to at most 0.3 when the one that "
        "retrieves is cut, and stays at 0.99 or more when all the others are.",
        read(
            "softmax of the model's output at the questions",
            c.probability,
            Control("exchanged", lambda seed: c.probability(seed, cut="finder", kept="but_finder")),
        ),
        outcome_of="razor.sec1.probability",
    ),
    trained(
        "razor.reading.others",
        "RazorAttention, Section 1",
        THREE + "the 26 that are not protected answer at most 8 % of the questions, where guessing gives 6.25 %, and "
        "use remote text: with them whole and the protected six cut, 0.01 to 0.04 bits a byte are lost, not all.",
        read(
            "the protected cut and the others whole; the others cut and the protected whole",
            c.others_do_not_find,
            Control("the protected", lambda seed: c.others_do_not_find(seed, group="protected")),
        ),
        outcome_of="razor.sec1.cannot_use",
        note="With all 32 cut 0.033 to 0.047 bits are lost, with the 26 cut 0.008 to 0.015.",
    ),
    trained(
        "razor.reading.layer",
        "RazorAttention, Section 1",
        THREE + "the one that retrieves lies in the first layer.",
        read(
            "the layer of the head that answers most when whole alone",
            c.finder_layer,
            Control("the second", lambda seed: c.finder_layer(seed, layer=1)),
        ),
        outcome_of="razor.sec1.retrieve_process",
        note="Consistent with retrieving first and processing later; no test of it.",
    ),
    trained(
        "razor.reading.scope_rank",
        "RazorAttention, Section 3.1",
        THREE + "the one that retrieves ranks 17th, 11th and 3rd by the L_h of Eq. 2, and the six heads of the "
        "largest L_h answer 7 %, 31 % and 100 % of the questions: the largest L_h do not name it.",
        read(
            "Eq. 2 on the trained weights, W_K times |alpha_1| + |alpha_2| for shifted keys",
            c.scope_rank,
            Control("the second model's for the first", points=({"seed": 0, "rank": 11, "share": "31"},)),
            points=(
                {"seed": 0, "rank": 17, "share": "7"},
                {"seed": 1, "rank": 11, "share": "31"},
                {"seed": 2, "rank": 3, "share": "100"},
            ),
        ),
        note="The four largest L_h are always those of the slope 1/256: the order is mostly that of the slopes. Six "
        "heads by their scores answer all.",
    ),
    trained(
        "razor.reading.known",
        "RazorAttention, Figure 2 and Section 4",
        THREE + "SnapKV without pooling, at 32 % of the memory, answers the question at the end of its prompt in all "
        "32 windows, and at most a tenth of the later ones and of those asked just after the prompt; guessing gives "
        "6.25 %.",
        read(
            "16 last tokens of the prompt choose 65 earlier ones a head; the cut is in force from the prompt's end on",
            c.known_query_serves_one,
            Control("a question after the prompt", lambda seed: c.known_query_serves_one(seed, first="unasked")),
            Control("a hundredth of the later ones", lambda seed: c.known_query_serves_one(seed, Fraction(1, 100))),
        ),
        outcome_of="razor.fig2.snapkv",
    ),
    trained(
        "razor.reading.evicted",
        "RazorAttention, Figure 2, Sections 4.2 and 5",
        THREE
        + "heavy hitters at 32 % of the memory leave 95 % of all tokens in some head, and at least 220 of 256 values "
        "in some head when asked for, but 31 to 60 in the one that retrieves: these are answered, 75 at most in all.",
        read(
            "the evicted sets of every head, step by step",
            c.held_elsewhere,
            Control("250 values in some head", lambda seed: c.held_elsewhere(seed, held=250)),
            Control("30 in the one that retrieves", lambda seed: c.held_elsewhere(seed, by_finder=30)),
        ),
        outcome_of="razor.fig2.importance",
        note="What is lost is less the token than its place in the head that can use it; guessing answers 16 of 256.",
    ),
    trained(
        "razor.reading.continuous",
        "RazorAttention, Section 4.3.2",
        THREE
        + "more whole heads in the order of induction scores never answer fewer questions, but not continuously more: "
        "at most a third until the one that retrieves comes in, at least 99 % from then on.",
        read(
            "0, 1, 2, 3, 4, 5, 6, 8, 12, 16, 24 and 32 whole heads",
            c.in_steps,
            Control("the order of L_h", lambda seed: c.in_steps(seed, order="scoped")),
        ),
        outcome_of="razor.tab4",
    ),
)
