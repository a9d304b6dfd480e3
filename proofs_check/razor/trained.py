"""What RazorAttention says of its experiments, at a small scale: policies at equal memory.

Evidence re-reads the shipped comparison, whose bytes are checked (`python -m scripts.compare` makes it afresh). The
thresholds and their reasons: `trained_checks`.
"""

from typing import Any

from proofs_check.claim import Claim, Control, Evidence, Kind, Nature, Verdict, Witness
from proofs_check.razor import trained_checks as c

MODEL = "four ALiBi layers of eight heads, width 96, KV shifting, trained on Python's standard library with needles"
SCALE = "context 256 bytes, caches cut from the first on (no prompt read in full), 256 needles in 32 windows, 3 seeds"
TABLE_2 = "8/25"
EIGHTH = "Fixed beforehand for 12.5 % too, where two protected heads are left: one model of three fails there."


def trained(id: str, source: str, statement: str, *evidence: Evidence, **rest: Any) -> Claim:
    settings = {"nature": Nature.EMPIRICAL, "verdict": Verdict.HOLDS, "hypotheses": (MODEL,), **rest}
    return Claim(id=id, source=source, statement=statement, evidence=evidence, **settings)


def read(scope: str, margin: Any, points: Any, *controls: Control) -> Evidence:
    return Evidence(Kind.TRAINED, f"{scope}; {SCALE}, shipped results", margin, points, controls)


CLAIMS: tuple[Claim, ...] = (
    trained(
        "razor.trained.learnt",
        "RazorAttention, Section 4, our addition",
        "The models that are compressed here can retrieve: with the full cache they answer nine questions in ten.",
        read(
            "at least 90 % of the questions",
            c.learnt,
            tuple({"seed": seed} for seed in c.SEEDS),
            Control("a window of a quarter", lambda seed: c.learnt(seed, policy="window", budget="1/4")),
        ),
        note="Without shifted keys the same training does not get there: after 1500 steps on rows of 64 bytes three "
        "vanilla layers still guess among the values in sight (1.67 nats an answer, 8 values in a row).",
        is_correction=True,
    ),
    trained(
        "razor.trained.protected",
        "RazorAttention, Sections 3.2 and 4.1, Table 2",
        "Protecting 15 % of the heads, chosen by their scores, makes the compressed cache as good as the full one (at "
        "this scale, at the 3.125-fold compression of Table 2; here 6 of 32 heads, 14 % and 1 % each rounded up).",
        read(
            "less than 5 points of retrieval and 1 % of the bits lost",
            c.nearly_lossless,
            c.each(TABLE_2),
            Control("no heads", points=c.each(TABLE_2, policy="razor, no heads")),
            Control("random heads", points=c.each(TABLE_2, policy="razor, random heads")),
            Control("a window", points=c.each(TABLE_2, policy="window")),
        ),
        note="In each model one of the six finds the needles. All have one of the five gentlest slopes and low scores: "
        "at most 0.08 to 0.15 by induction, 0.02 to 0.03 by echo, where even attention has 0.01.",
    ),
    trained(
        "razor.trained.random",
        "RazorAttention, Section 3.2, Table 1",
        "Random heads do not help: of the retrieval that is lost without protected heads as many random ones recover "
        "less than half (at this scale and equal memory).",
        read(
            "sets at 32 %, 25 % and 12.5 % of the memory without the finder: less than half",
            c.set_does_not,
            lambda _: c.random_sets(found=False),
            Control("the sets that hold it", points=lambda _: c.random_sets(found=True)),
        ),
        read(
            "sets that hold it: 80 % or more",
            c.set_recovers,
            lambda _: c.random_sets(found=True),
            Control("the sets that miss it", points=lambda _: c.random_sets(found=False)),
        ),
        verdict=Verdict.HOLDS_IF,
        note="The set must miss the one head of a model that finds the needles; six of 32 do so with chance 81 %. The "
        "table's three draws all hold it in one model, one does in another, none in the third: their mean is a lottery "
        "(24 further draws of each model recover 6 to 17 % on average).",
        correction="razor.trained.chosen",
    ),
    trained(
        "razor.trained.chosen",
        "RazorAttention, Section 3.2, Table 1, our form",
        "Heads chosen by induction and echo scores recover 80 % of what is lost without protected heads, in every "
        "model; random ones only where they hold the head that finds the needles.",
        read(
            "at 32 % and at 25 % of the memory",
            c.chosen_recover,
            c.each(TABLE_2, "1/4"),
            Control("random heads", points=c.each(TABLE_2, "1/4", chosen="razor, random heads")),
        ),
        is_correction=True,
    ),
    trained(
        "razor.trained.window",
        "RazorAttention, Section 3.2, Table 1",
        "Keeping recent tokens alone fails: less than half of what the full cache answers is left (windows of a "
        "quarter and an eighth of the context; every value lies further back, 73 to 249 bytes).",
        read(
            "windows of 64 and 32 tokens",
            c.fails,
            c.each("1/4", "1/8", policy="window"),
            Control("Razor", points=c.each("1/4", policy="razor")),
        ),
        note="What is left is guessing, 1 in 16. A window of half the context holds 27 % of the values by design.",
    ),
    trained(
        "razor.trained.streaming",
        "RazorAttention, Section 4.1, Table 3, and Section 4.2",
        "At equal memory Razor retrieves more than StreamingLLM's sinks and window.",
        read(
            "5 points more at 32 % and 25 % of the memory",
            c.better_retrieval,
            c.each(TABLE_2, "1/4", worse="sinks + window"),
            Control("exchanged", points=c.each(TABLE_2, "1/4", worse="razor", better="sinks + window")),
            Control("the full cache", points=c.each(TABLE_2, "1/4", worse="full")),
            Control("an eighth of the memory", points=c.each("1/8", worse="sinks + window")),
        ),
        note=EIGHTH,
    ),
    trained(
        "razor.trained.heavy",
        "RazorAttention, Section 4.1, Table 3, and Section 4.2, Figure 4",
        "At equal memory Razor retrieves more than H2O's heavy hitters.",
        read(
            "5 points more at 32 % and 25 % of the memory",
            c.better_retrieval,
            c.each(TABLE_2, "1/4", worse="heavy hitters"),
            Control("exchanged", points=c.each(TABLE_2, "1/4", worse="razor", better="heavy hitters")),
            Control("an eighth of the memory", points=c.each("1/8", worse="heavy hitters")),
        ),
        note=EIGHTH,
    ),
    trained(
        "razor.trained.eighth",
        "RazorAttention, Section 4.3.2, our addition",
        "Fewer protected heads are a gamble: with an eighth of the memory two heads fit, and in one model of three "
        "the head that finds the needles is not among the two of the highest induction score.",
        read(
            "less than half of the answers are left",
            c.fails,
            ({"budget": "1/8", "seed": 0, "policy": "razor"},),
            Control("the other models", points=c.each("1/8", policy="razor")[1:]),
            Control("a quarter of the memory", points=({"budget": "1/4", "seed": 0, "policy": "razor"},)),
        ),
        is_correction=True,
    ),
    trained(
        "razor.trained.compensation",
        "RazorAttention, Section 4.3.3, Figure 7",
        "The compensation token is critical for the performance (at this scale; plain means and log N_d as printed, "
        "and the mean of the ALiBi biases, of which print says nothing).",
        read(
            "at 32 %, 25 % and 12.5 % of the memory neither 5 points of retrieval nor 1 % of the bits hang on it",
            c.token_does_not,
            c.each(*c.TIGHT),
            Control("the protected heads for the token", points=c.each(*c.TIGHT, without="razor, no heads")),
            Control("the centred token at an eighth", points=c.each("1/8", token="razor, centred token")),
        ),
        verdict=Verdict.FALSE,
        witness=Witness({"budget": "1/8", "seed": 1}),
        note="Not a refutation at the paper's sizes: at 32 % no retrieval and 0.8 % of the bits are lost without any "
        "token, so little is left to recover. Without it 0.002, 0.004 and 0.007 bits per byte more are needed (0.1 to "
        "0.3 %, means over models), 14, 9 and 9 % of what dropping costs.",
        correction="razor.trained.tokens",
    ),
    trained(
        "razor.trained.tokens",
        "RazorAttention, Section 4.3.3, our addition",
        "A token made for ALiBi compensates better than the printed one: weights that decay with distance cost fewer "
        "bits, and centred at the mean query over training text fewer still.",
        read(
            "bits per byte, in every model at 32 %, 25 % and 12.5 % of the memory",
            c.better_text,
            [
                *c.each(*c.TIGHT, better="razor, decayed token", worse="razor"),
                *c.each(*c.TIGHT, better="razor, centred token", worse="razor, decayed token"),
            ],
            Control("exchanged", points=c.each(*c.TIGHT, better="razor", worse="razor, decayed token")),
            Control("swapped", points=c.each(*c.TIGHT, better="razor, decayed token", worse="razor, centred token")),
        ),
        note="At an eighth of the memory 0.075, 0.056 and 0.046 bits per byte above the full cache. A token counts as "
        "one entry; the centre, a query a head that does not grow with the context, as none.",
        is_correction=True,
    ),
    trained(
        "razor.trained.text",
        "RazorAttention, Section 4, our addition",
        "On text the whole heads have their price: at a quarter or an eighth of the memory Razor as printed needs more "
        "bits than a plain window of equal memory.",
        read(
            "bits per byte, in every model",
            c.better_text,
            c.each("1/4", "1/8", better="window", worse="razor"),
            Control("the centred token", points=c.each("1/4", "1/8", better="window", worse="razor, centred token")),
        ),
        note="With the centred token it needs fewer at an eighth of the memory, in every model.",
        is_correction=True,
    ),
)
