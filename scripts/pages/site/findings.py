"""The findings of the front page and the README, and the questions that a first visit has."""

from typing import NamedTuple

from .view import claim_link


class Finding(NamedTuple):
    """title and text as a reader of the paper needs them; figure: a file of docs/; claims: what carries it."""

    title: str
    text: str
    figure: str
    alt: str
    claims: tuple[str, ...]

    @property
    def link(self) -> str:
        return claim_link(self.claims[0])


FINDINGS = (
    Finding(
        "KV shifting's Theorem 3.3 holds without the first and the last token, and fails with them",
        "The theorem says that one head represents induction exactly. This is true if the head attends to the tokens 2 "
        "to L - 1 alone, over which the definition of an induction head sums; the theorem does not say so. Under the "
        "causal mask of Eq. 6 no head does it, whatever its parameters. The core has proved this for three tokens in "
        "one dimension (kv.thm3.3.impossible), and wider heads reduce to one dimension. A formula gives the error.",
        "fig_theorem_3_3", "What one head misses under the causal mask", ("kv.thm3.3", "kv.thm3.3.impossible",
                                                                          "kv.thm3.3.discrepancy"),
    ),
    Finding(
        "RazorAttention's Theorem 1 does not bound an ALiBi head",
        "The theorem promises a distance beyond which no token weighs more than eps. As printed it fails for two "
        "tokens in two dimensions. The sharp distance stands beside it, and so does the exact condition under which "
        "the printed distance is right.",
        "fig_counterexample", "A token beyond the printed distance that keeps its weight", ("razor.thm1",
                                                                                            "razor.thm1.corrected",
                                                                                            "razor.thm1.iff"),
    ),
    Finding(
        "The listing of Figure 2 does not draw the loss",
        "The listing that draws KV shifting's Figure 2 has four slips. Once it runs, its directions of descent are off "
        "by 61.5 degrees on average at O(T) = 0, by 3.6 degrees at O(T) = 10 and by 0.5 at O(T) = 100. Eq. 10 has one "
        "of the slips. With the exact loss the induction head is the only minimum on the box of the figure, for "
        "every T >= 4 and every position from 2 to T - 2.",
        "fig_landscape", "The loss as it is, as Eq. 10 prints it, and as the listing draws it",
        ("kv.listing_l.picture", "kv.eq10", "kv.fig2.caption"),
    ),
    Finding(
        "A masked token acts as a first token where position enters through the logits alone",
        "The waiver paper's Eq. 11 hides all other tokens from one token k, in every layer and head; k itself "
        "stays visible. Without positions, with ALiBi and with rotary positions, which the paper's model has, the "
        "states of k are then those of a first token with the same word. The core has proved that the masked row "
        "returns k's own value. Whole models were only sampled: random ones of three layers agree to 1e-13. With "
        "learned positions they do not.",
        "fig_waiver_token", "What a masked token becomes, by positional scheme", ("waiver.eq11.layers",
                                                                                        "waiver.eq11"),
    ),
)  # fmt: skip
BLOOM = "explorer.html#pane=alibi"
QUESTIONS = (
    ("Is Theorem 3.3 true?", "paper-kv.html#kv.thm3.3", "On the tokens 2 to L - 1 it is. Under the causal mask it is "
     "not; the smallest example and the error stand beside it."),
    ("How far can a BLOOM head see?", BLOOM, "Set slope and range, read the distance. Of a checkpoint: "
     "python -m scripts scope MODEL."),
    ("Why is the printed figure wrong?", "paper-kv.html#kv.listing_l.picture", "Its listing has four slips; drag the "
     "point and compare."),
)  # fmt: skip
