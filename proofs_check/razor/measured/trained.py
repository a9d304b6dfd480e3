"""What RazorAttention says of its experiments, at a small scale: policies at equal memory.

Evidence re-reads the shipped comparison, whose bytes are checked (`python -m scripts study compare` makes it
afresh). The thresholds and their reasons: `trained_checks`.
"""

from typing import Any

from proofs_check.ledger.claim import SAMPLES, Claim, Control, Evidence, Kind, Nature, Verdict
from proofs_check.razor.measured.trained_checks import (
    SEEDS,
    TIGHT,
    better_retrieval,
    better_text,
    chosen_recover,
    each,
    fails,
    learnt,
    nearly_lossless,
    random_sets,
    recovers_less_than,
    set_does_not,
    set_recovers,
    share_between,
    token_does_not,
)

MODEL = (
    "four ALiBi layers of eight heads, width 96, 160 symbols, KV shifting, 450 steps on Python's library with needles"
)
SCALE = (
    "context 256 bytes, caches cut from the first on (no prompt read in full), 256 needles in 32 windows, 3 seeds, "
    "shipped results"
)
OTHERS = " Other models may differ."
TABLE_2 = "8/25"
EIGHTH = "Fixed beforehand for 12.5 % too, where two protected heads are left: one model of three fails there."


def trained(id: str, source: str, statement: str, *evidence: Evidence, others: str = OTHERS, **rest: Any) -> Claim:
    """An outcome of training: a statement of ours, beside the paper's unsettled one where `outcome_of` names it.

    others: what the statement says of other models.
    """
    settings = {"nature": Nature.EMPIRICAL, "verdict": Verdict.HOLDS, "hypotheses": (MODEL,), "coverage": SAMPLES,
                "is_correction": True, **rest}  # fmt: skip
    return Claim(id=id, source=source, statement=statement + others, evidence=evidence, **settings)


def read(scope: str, margin: Any, points: Any, *controls: Control, scale: str = SCALE) -> Evidence:
    return Evidence(Kind.TRAINED, f"{scope}; {scale}", margin, points, controls)


CLAIMS: tuple[Claim, ...] = (
    trained(
        "razor.trained.learnt",
        "RazorAttention, Section 4, our addition",
        "The three four-layer ALiBi models that are compressed here can retrieve: with the full cache they answer at "
        "least nine of ten questions.",
        read(
            "at least 90 % of the questions",
            learnt,
            tuple({"seed": seed} for seed in SEEDS),
            Control("a window of a quarter", lambda seed: learnt(seed, policy="window", budget="1/4")),
        ),
        note="Without shifted keys the same training does not get there: after 1500 steps on rows of 64 bytes three "
        "vanilla layers still guess among the values in sight (1.67 nats an answer, 8 values in a row).",
    ),
    trained(
        "razor.trained.protected",
        "RazorAttention, Sections 3.2 and 4.1, Table 2",
        "In three four-layer ALiBi models of 32 heads protecting 6 heads, 14 % and 1 % by their scores each rounded "
        "up, makes a cache of 32 % as good as the full one: under 5 points of retrieval and 1 % of the bits lost.",
        read(
            "less than 5 points of retrieval and 1 % of the bits lost",
            nearly_lossless,
            each(TABLE_2),
            Control("no heads", points=each(TABLE_2, policy="razor, no heads")),
            Control("random heads", points=each(TABLE_2, policy="razor, random heads")),
            Control("a window", points=each(TABLE_2, policy="window")),
        ),
        note="In each model one of the six finds the needles. All have one of the five gentlest slopes and low scores: "
        "at most 0.08 to 0.15 by induction, 0.02 to 0.03 by echo, where even attention has 0.01.",
        outcome_of="razor.abstract.lossless",
    ),
    trained(
        "razor.trained.random",
        "RazorAttention, Section 3.2, Table 1",
        "In three four-layer ALiBi models of 32 heads random heads help just where they hold the one head that finds "
        "the needles: of 27 random sets those that miss it recover less than half of the retrieval that is lost "
        "without protected heads at equal memory, and those that hold it 80 % or more.",
        read(
            "sets at 32 %, 25 % and 12.5 % of the memory without the finder: less than half",
            set_does_not,
            lambda _: random_sets(found=False),
            Control("the sets that hold it", points=lambda _: random_sets(found=True)),
        ),
        read(
            "sets that hold it: 80 % or more",
            set_recovers,
            lambda _: random_sets(found=True),
            Control("the sets that miss it", points=lambda _: random_sets(found=False)),
        ),
        note="Six of 32 miss it with chance 81 %. The three draws at 32 % all hold it in one model, one does in "
        "another, none in the third: their mean is a lottery (24 further draws of each model recover 6 to 17 % on "
        "average).",
        outcome_of="razor.sec3.2.fifteen",
    ),
    trained(
        "razor.trained.chosen",
        "RazorAttention, Section 3.2, Table 1, our form",
        "Heads chosen by induction and echo scores recover 80 % of the retrieval that is lost without protected "
        "heads, in each of three four-layer ALiBi models of 32 heads.",
        read(
            "at 32 % and at 25 % of the memory",
            chosen_recover,
            each(TABLE_2, "1/4"),
            Control("random heads", points=each(TABLE_2, "1/4", chosen="razor, random heads")),
        ),
        outcome_of="razor.sec3.2.fifteen",
    ),
    trained(
        "razor.trained.window",
        "RazorAttention, Section 3.2, Table 1",
        "In three four-layer ALiBi models keeping recent tokens alone fails: with windows of a quarter and an eighth "
        "of 256 bytes less than half of what the full cache answers is left (every value lies 73 to 249 bytes back).",
        read(
            "windows of 64 and 32 tokens",
            fails,
            each("1/4", "1/8", policy="window"),
            Control("Razor", points=each("1/4", policy="razor")),
        ),
        note="What is left is guessing, 1 in 16. A window of half the context holds 27 % of the values by design. All "
        "values lie beyond the window: it says nothing on how local the heads are.",
        outcome_of="razor.sec1.few",
    ),
    trained(
        "razor.trained.streaming",
        "RazorAttention, Section 4.1, Table 3, and Section 4.2",
        "In three four-layer ALiBi models Razor answers 5 points more than StreamingLLM's sinks and window at equal "
        "memory, 32 % and 25 % of 256 tokens a head.",
        read(
            "5 points more at 32 % and 25 % of the memory",
            better_retrieval,
            each(TABLE_2, "1/4", worse="sinks + window"),
            Control("exchanged", points=each(TABLE_2, "1/4", worse="razor", better="sinks + window")),
            Control("the full cache", points=each(TABLE_2, "1/4", worse="full")),
            Control("an eighth of the memory", points=each("1/8", worse="sinks + window")),
        ),
        outcome_of="razor.fig4",
        note=EIGHTH,
    ),
    trained(
        "razor.trained.heavy",
        "RazorAttention, Section 4.1, Table 3, and Section 4.2, Figure 4",
        "In three four-layer ALiBi models Razor answers 5 points more than H2O's heavy hitters at equal memory, 32 % "
        "and 25 % of 256 tokens a head: all of 256 questions at 32 %, against 22 to 29 %.",
        read(
            "5 points more at 32 % and 25 % of the memory",
            better_retrieval,
            each(TABLE_2, "1/4", worse="heavy hitters"),
            Control("exchanged", points=each(TABLE_2, "1/4", worse="razor", better="heavy hitters")),
            Control("an eighth of the memory", points=each("1/8", worse="heavy hitters")),
        ),
        read(
            "heavy hitters answer 21.8 to 28.6 % at 32 % of the memory, Razor all",
            share_between,
            [
                *each(TABLE_2, policy="heavy hitters", least=0.218, most=0.286),
                *each(TABLE_2, policy="razor", least=1.0, most=1.0),
            ],
            Control("the full cache", points=each("1", policy="full", least=0.218, most=0.286)),
        ),
        outcome_of="razor.fig4",
        note=EIGHTH,
    ),
    trained(
        "razor.trained.eighth",
        "RazorAttention, Section 4.3.2, our addition",
        "Fewer protected heads are a gamble: with an eighth of the memory two of 32 heads fit, and in one model of "
        "three the head that finds the needles is not among the two of the highest induction score.",
        read(
            "less than half of the answers are left",
            fails,
            ({"budget": "1/8", "seed": 0, "policy": "razor"},),
            Control("the other models", points=each("1/8", policy="razor")[1:]),
            Control("a quarter of the memory", points=({"budget": "1/4", "seed": 0, "policy": "razor"},)),
        ),
    ),
    trained(
        "razor.trained.compensation",
        "RazorAttention, Section 4.3.3, Figure 7",
        "In three four-layer ALiBi models the compensation token is not critical: without it, at 32 %, 25 % and 12.5 "
        "% of the memory, neither 5 points of retrieval nor 1 % of the bits are lost (plain means and log N_d as "
        "printed, with the mean of the ALiBi biases, of which print says nothing).",
        read(
            "at 32 %, 25 % and 12.5 % of the memory neither 5 points of retrieval nor 1 % of the bits hang on it",
            token_does_not,
            each(*TIGHT),
            Control("the protected heads for the token", points=each(*TIGHT, without="razor, no heads")),
            Control("the centred token at an eighth", points=each("1/8", token="razor, centred token")),
        ),
        outcome_of="razor.fig7",
        note="No word on the paper's sizes, nor on its RoPE models: at 32 % no retrieval and 0.8 % of the bits are "
        "lost without any token, so little is left to recover. Without it 0.002, 0.004 and 0.007 bits per byte more "
        "are needed (0.1 to 0.3 %, means over models), 14, 9 and 9 % of what dropping costs.",
    ),
    trained(
        "razor.trained.recovered",
        "RazorAttention, Section 4.3.3",
        "In three four-layer ALiBi models the printed token recovers less than a fifth of the bits per byte that "
        "dropping costs, at 32 %, 25 % and 12.5 % of the memory, means over models.",
        read(
            "bits per byte with and without the token, above the full cache",
            recovers_less_than,
            tuple({"budget": budget, "most": 0.2} for budget in TIGHT),
            Control("the centred token", points=({"budget": "1/8", "most": 0.2, "token": "razor, centred token"},)),
        ),
        outcome_of="razor.sec4.3.most",
    ),
    trained(
        "razor.trained.tokens",
        "RazorAttention, Section 4.3.3, our addition",
        "In three four-layer ALiBi models a token made for ALiBi compensates better than the printed one: weights that "
        "decay with distance cost fewer bits, and centred at the mean query over training text fewer still.",
        read(
            "bits per byte, in every model at 32 %, 25 % and 12.5 % of the memory",
            better_text,
            [
                *each(*TIGHT, better="razor, decayed token", worse="razor"),
                *each(*TIGHT, better="razor, centred token", worse="razor, decayed token"),
            ],
            Control("exchanged", points=each(*TIGHT, better="razor", worse="razor, decayed token")),
            Control("swapped", points=each(*TIGHT, better="razor, decayed token", worse="razor, centred token")),
        ),
        note="At an eighth of the memory 0.075, 0.056 and 0.046 bits per byte above the full cache. A token counts as "
        "one entry; the centre, a query a head that does not grow with the context, as none.",
    ),
    trained(
        "razor.trained.text",
        "RazorAttention, Section 4, our addition",
        "On text the whole heads have their price: in three four-layer ALiBi models, at a quarter or an eighth of the "
        "memory, Razor as printed needs more bits than a plain window of equal memory.",
        read(
            "bits per byte, in every model",
            better_text,
            each("1/4", "1/8", better="window", worse="razor"),
            Control("the centred token", points=each("1/4", "1/8", better="window", worse="razor, centred token")),
        ),
        note="With the centred token it needs fewer at an eighth of the memory, in every model.",
    ),
)
