"""Causal masks, first tokens and their copies (Sections 3.3 and 4 of the waiver paper)."""

from proofs_check.ledger.claim import WITNESSED, Claim, Control, Nature, Severity, Verdict, Witness
from proofs_check.ledger.mathematical import exact, mathematical
from proofs_check.waiver.elements import checks as c

CAUSAL = "Waiver paper, Section 3.3.1"
LOGITS_ONLY = "Position enters through the logits alone (none, ALiBi, rotary on queries and keys)."

CLAIMS: tuple[Claim, ...] = (
    mathematical(
        "waiver.eq7",
        f"{CAUSAL}, Equation 7",
        "Causal attention is the mask times the softmax, so that the first element gives itself all its attention.",
        verdict=Verdict.TYPO,
        severity=Severity.MISPRINT,
        correction="waiver.eq7.corrected",
        reading="As Section 4.2.1 has it, the mask sets logits to minus infinity before the softmax.",
        note="The softmax of the masked logits; as printed the first row sums to less than 1, by what comes later.",
        formula=r"\mathrm{softmax}(S+\log M)V",
    ),
    mathematical(
        "waiver.eq7.corrected",
        f"{CAUSAL}, Equation 7, corrected",
        "With the mask before the softmax the first element's output is its own value, whatever follows.",
        is_correction=True,
        formula=r"o_1=v_1",
    ),
    mathematical(
        "waiver.eq8",
        f"{CAUSAL}, Equation 8",
        "The first element passes each layer as through an MLP alone, the projections of attention taken into it as "
        "matrices are associative.",
        exact(
            "x + LN(x) at x and 2 x: no projection in front of the MLP gives both",
            c.not_linear,
            ({"scale": 2},),
            Control("the same x", lambda scale: c.not_linear(1)),
        ),
        verdict=Verdict.HOLDS_IF,
        severity=Severity.REPAIRABLE,
        coverage=WITNESSED,
        reading="Where residual and normalisation are part of the map.",
        note="It is a fixed function of the token (waiver.eq7.corrected), not the layer's MLP with other weights: a "
        "residual and a normalisation stand between.",
        formula=r"x\mapsto x+\mathrm{LN}(x)W",
    ),
    mathematical(
        "waiver.sec3.3.1.size",
        CAUSAL,
        "The number of states that a first element can have equals the size of the vocabulary.",
        exact(
            "two words of one embedding: one state",
            c.duplicates,
            ({"rows": ("a", "b", "b")},),
            Control("all different", points=({"rows": ("a", "b", "c")},)),
        ),
        verdict=Verdict.HOLDS_IF,
        severity=Severity.READING,
        coverage=WITNESSED,
        reading="Where different words have different states.",
        note="At most that: rows of the embedding may agree, and layers may map two words to one.",
        formula=r"|\{f(E_w)\}|\le|V|",
    ),
    mathematical(
        "waiver.sec3.3.1.copies",
        f"{CAUSAL}, added",
        "Attention over copies of one token gives that token's value, whatever the logits: what the first "
        "element's own attention gives.",
        is_correction=True,
        note="Where position enters through the logits alone (none, ALiBi, rotary on queries and keys), all states "
        "then stay equal layer by layer, so that a mixed element need not differ from a first one, as Section "
        "3.3.1 has it.",
        formula=r"\sum_ja_jv=v",
    ),
    mathematical(
        "waiver.sec3.3.1.prefix",
        CAUSAL,
        "The states of the first elements are fixed where these are: an output under the causal mask is that of the "
        "elements up to it, whatever follows.",
        note="One layer and head; with what is done token by token in between, so is every layer's.",
        formula=r"\frac{\sum_jM_{ij}e^{s_j}v_j}{\sum_jM_{ij}e^{s_j}}="
        r"\frac{\sum_{j\le i}e^{s_j}v_j}{\sum_{j\le i}e^{s_j}}",
    ),
    mathematical(
        "waiver.eq11",
        "Waiver paper, Section 4.2.1, Equations 9 to 11",
        "Masked as in Equation 11, element k is not mixed with others: its output is its own value.",
        verdict=Verdict.HOLDS_IF,
        severity=Severity.READING,
        reading="For the whole model: the mask is in every layer and head.",
        note=f"{LOGITS_ONLY} Then its state is that of a first element in every layer; masked in one layer only, the "
        "others mix it again.",
        formula=r"\frac{\sum_jM_{kj}e^{s_j}v_j}{\sum_jM_{kj}e^{s_j}}=v_k",
    ),
    mathematical(
        "waiver.sec4.3.1.share",
        "Waiver paper, Section 4.3.1, added",
        "A second token with the first one's state takes as much as it, t/(1 + t) each where it had t, if position "
        "does not enter.",
        is_correction=True,
        formula=r"\frac{t}{1+t}",
    ),
    mathematical(
        "waiver.sec4.3.1.alibi",
        "Waiver paper, Section 4.3.1, added",
        "Under ALiBi of slope l the one that is k tokens nearer to the query takes e^{l k} times as much.",
        is_correction=True,
        formula=r"e^{lk}",
    ),
    mathematical(
        "waiver.sec2.2.removed",
        "Waiver paper, Section 2.2, added",
        "Leaving out a token of value 0 and weight a divides the output by 1 - a.",
        is_correction=True,
        note="Tenfold at .9, a hundredfold at .99: a rescaling and not, as Section 2.2 says, a numerical instability.",
        formula=r"o'=\frac{o}{1-a}",
    ),
    mathematical(
        "waiver.fig4.index",
        "Waiver paper, Figure 4, caption",
        "In Figure 4 the element at index 255 is changed.",
        exact("255 in the caption, 383 in the text", c.figure_4, ({},), Control("383", lambda: c.figure_4(383))),
        nature=Nature.TEXTUAL,
        verdict=Verdict.TYPO,
        severity=Severity.MISPRINT,
        coverage=WITNESSED,
        witness=Witness({}),
        note="383, as in Section 4.3.2.",
    ),
    mathematical(
        "waiver.sec4.1.characters",
        "Waiver paper, Sections 4.1 and 4.3.2",
        "Texts of more than 1024 characters give sequences of 512 tokens.",
        exact(
            "tokens of up to three characters: 1025 characters can be 342",
            c.characters,
            ({"tokens": 512, "longest": 3, "least": 1024},),
            Control("at most two", points=({"tokens": 512, "longest": 2, "least": 1024},)),
        ),
        nature=Nature.TEXTUAL,
        verdict=Verdict.HOLDS_IF,
        severity=Severity.READING,
        coverage=WITNESSED,
        reading="For the texts that were used.",
        note="Characters do not bound tokens from below: English text has four or so a token.",
    ),
)
