"""The five findings of the front page and the README, and the questions that a first visit has."""

from typing import NamedTuple


class Finding(NamedTuple):
    """title and text as a reader of the paper needs them; figure: a file of docs/; claims: what carries it."""

    title: str
    text: str
    figure: str
    alt: str
    claims: tuple[str, ...]

    @property
    def link(self) -> str:
        from .view import claim_link

        return claim_link(self.claims[0])


FINDINGS = (
    Finding(
        "KV shifting's Theorem 3.3 is false as printed",
        "It says that one head represents induction exactly. Under the paper's own causal mask none does, whatever its "
        "parameters: three tokens in one dimension are enough. Without the first and the last place it is true, and "
        "with them the error is named exactly.",
        "fig_theorem_3_3", "What one head misses under the causal mask", ("kv.thm3.3", "kv.thm3.3.impossible",
                                                                          "kv.thm3.3.corrected"),
    ),
    Finding(
        "RazorAttention's Theorem 1 does not bound an ALiBi head",
        "It promises a distance beyond which no token weighs more than eps. Two tokens in two dimensions escape it. "
        "The sharp distance stands beside it, with the exact condition under which the printed one is right.",
        "fig_counterexample", "A token beyond the printed distance that keeps its weight", ("razor.thm1",
                                                                                            "razor.thm1.corrected",
                                                                                            "razor.thm1.iff"),
    ),
    Finding(
        "The picture of the loss is not the loss",
        "The listing that draws KV shifting's Figure 2 has four slips; once it runs, its directions of descent are "
        "61.5 degrees off on average. Eq. 10 itself has one of them. Drawn exactly, the induction head is the only "
        "minimum, from four tokens on.",
        "fig_landscape", "The loss as it is, as Eq. 10 prints it, and as the listing draws it",
        ("kv.listing_l.picture", "kv.eq10", "kv.fig2.caption"),
    ),
    Finding(
        "A masked token is a first token only where position enters through the logits",
        "The waiver paper hides an element from the others and calls what it becomes a first element. With no "
        "positions, ALiBi or rotary ones that is exact, in every layer; with learned positions it is not.",
        "fig_waiver_token", "What a masked token becomes, by positional scheme", ("waiver.eq11",),
    ),
    Finding(
        "At equal parameters KV shifting gains, and not by looking across documents",
        "Trained side by side at 45, 99 and 173 thousand parameters, with seeds fixed beforehand and intervals that "
        "hold however often one looks: the loss falls by 3.4, 3.9 and 4.1 %. Carrying a token over from an unrelated "
        "document changes it by less than 1 %. About larger models it says nothing.",
        "fig_arena", "Losses against vanilla at equal parameters, with simultaneous intervals", ("kv.fig5.better",),
    ),
)  # fmt: skip
BLOOM = "explorer.html#pane=alibi"
QUESTIONS = (
    ("Is Theorem 3.3 true?", "paper-kv.html#kv.thm3.3", "Not under the causal mask; here is the smallest example, and "
     "what holds."),
    ("How far can a BLOOM head see?", BLOOM, "Set slope and range, read the distance. Of a checkpoint: "
     "python -m scripts.scope MODEL."),
    ("Why is the printed figure wrong?", "paper-kv.html#kv.listing_l.picture", "Four slips in its listing; drag the "
     "point and compare."),
)  # fmt: skip
