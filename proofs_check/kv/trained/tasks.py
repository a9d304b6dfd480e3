"""Figure 9 at a small scale: 3-grams alone, where keys and values are mixed or not, and 3-grams in text."""

from fractions import Fraction

from proofs_check.kv.trained import checks as c
from proofs_check.kv.trained.sweeps import WEIGHTS
from proofs_check.ledger.claim import Control, everywhere
from proofs_check.ledger.mathematical import exact, mathematical
from proofs_check.records.shipped import Run
from proofs_check.records.trained import Bound, Trained, pair, reaches

FIGURE_9 = "Appendix E.3, Figure 9 (first version: Section 3.3, Figure 3)"
APPENDIX = "KV shifting (final), Appendix E.3"


def bare(kind: str, size: str) -> Run:
    return "figure-9-50m" if size == "50M" else "figure-9", f"{kind}.{size}"


TEXT, PAIR = ([("figure-9-text", f"{kind}.{row}") for kind in ("kv-shift", "vanilla")] for row in ("text", "pair"))
KV, MLP_48, WIDTH_16 = (("figure-9-sizes", name) for name in ("kv-shift", "mlp-48", "width-16"))
SIZES = [(bare("kv-shift", size), bare("vanilla", size)) for size in ("50M", "0.4M", "0.8K")]

CLAIMS = (
    Trained("kv.fig9.no_gain", f"{FIGURE_9}, trained here", left=[pair(*size) for size in SIZES], outcome_of="kv.fig9",
            why="What surrounds a pair is not said; here nothing does."),
    Trained("kv.fig9.unlike_fig1a.trained", f"{FIGURE_9}, trained here", bounds=[
        Bound(c.largest_gap, SIZES, "below", Fraction(1, 10), unlike=[TEXT]),
        Bound(c.apart, [WEIGHTS[:2]], "at least", Fraction(4, 5),
              unlike=[(WEIGHTS[2], WEIGHTS[1])], shown=False)], outcome_of="kv.fig9.unlike_fig1a"),
    mathematical(
        "kv.appE.one_layer.table",
        f"{APPENDIX}, our addition",
        "One layer without any shift represents every table of 3-grams: a head that puts a weight > 0 on the first "
        "token, by its position, tells a apart from b, and V^2 units relu(u_a + w_b - 1) look the answer of (a, b) up.",
        exact(
            "the units of every row over 2 to 5 tokens: 1 at its own pair, 0 at the others; weights 1/3, 3/4 and 1",
            c.look_up,
            [
                {"size": size, "weight": w}
                for size in range(2, 6)
                for w in (Fraction(1, 3), Fraction(3, 4), Fraction(1))
            ],
            Control("weight taken for 1/2", lambda size, weight: c.look_up(size, weight, Fraction(1, 2))),
        ),
        formula=r"l=\sum_{a,b}e_{t(a,b)}\,\mathrm{relu}(u_a+w_b-1)",
        hypotheses=("a row is a pair (a, b) of V tokens", "no normalisation"),
        coverage=everywhere(
            "u_a + w_b is 2 at the pair (a, b), 1 where one token is in common and 0 elsewhere, whatever V and the "
            "table are."
        ),
        is_correction=True,
    ),
    Trained("kv.appE.one_layer.trained", "Appendix E.3, trained here", bounds=[
        reaches(95, bare("vanilla", "0.8K"), unlike=[("mqar", "vanilla-1")])], outcome_of="kv.appE.one_layer",
        why="Nothing here is estimated in context: the pairs are learned into the weights."),
    Trained("kv.appE.bottleneck.trained", "Appendix E.3, trained here",
            ahead=[pair(MLP_48, KV), pair(WIDTH_16, KV, Fraction(2, 3))], left=[pair(MLP_48, KV, Fraction(2, 3))],
            outcome_of="kv.appE.bottleneck", why="The changes add parameters, which KV shifting does not."),
    Trained("kv.fig9.text", f"{FIGURE_9}, our addition", ahead=[pair(*TEXT)], left=[pair(*TEXT, Fraction(3, 4))],
            outcome_of="kv.appE.fusion"),
    Trained("kv.appE.positions.trained", "Appendix E.3, last paragraph, trained here", ahead=[pair(*TEXT)],
            left=[pair(*PAIR)], outcome_of="kv.appE.positions",
            why="The models have rotary positions; one without positions was not trained."),
)
