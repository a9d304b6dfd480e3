"""Theorem 1 of RazorAttention and the steps of its proof: false as printed, and the bound that is attained."""


from proofs_check.ledger.claim import (
    ENUMERATED,
    WITNESSED,
    Claim,
    Control,
    Severity,
    Verdict,
    Witness,
    everywhere,
)
from proofs_check.ledger.mathematical import exact, mathematical, symbolic
from proofs_check.razor.scope import theorem1_checks as c
from proofs_check.razor.scope.theorem1_checks import HALF

THEOREM = "RazorAttention, Section 3.1, Theorem 1"
PROOF = "RazorAttention, Appendix A"
BOUND = r"\frac{1}{1+e^{ln}(e^{-D_s}+e^{-D}\sum_{j=1}^{n-1}e^{-lj})}"

CLAIMS: tuple[Claim, ...] = (
    mathematical(
        "razor.appA.denominator",
        PROOF + ", bound of the attention weight",
        "The denominator of the attention of query m is at least exp(S_{n->n}).",
        symbolic(
            "with S_{m->m}: the denominator less that term is a sum of exponentials, 1 to 6 other tokens",
            c.own_term_is_summed,
            tuple({"n_tokens": n} for n in range(2, 8)),
            Control("twice that term", lambda n_tokens: c.own_term_is_summed(n_tokens, own=2)),
        ),
        exact(
            "two tokens, d = 2, RMSNorm, with S_{m->m}: 1 against e^{-l} + 1",
            c.term_of_the_sum,
            ({"slope": HALF},),
            Control("as printed: e^2 against e^{-l} + 1", lambda slope: c.term_of_the_sum(slope, own=False)),
        ),
        verdict=Verdict.TYPO,
        severity=Severity.MISPRINT,
        coverage=everywhere("The own score's exponential is one term of a sum of positive ones, however many."),
        formula=r"\sum_n e^{S_{m\to n}}\ge e^{S_{n\to n}}",
        note="S_{m->m} = q_m . k_m is meant: S_{n->n} is the own score of another query and no term of the sum.",
    ),
    mathematical(
        "razor.appA.denominator.corrected",
        PROOF + ", bound of the attention weight, corrected",
        "The denominator of the attention of query m is at least exp(S_{m->m}) = exp(q_m . k_m).",
        symbolic(
            "the denominator less that term is a sum of exponentials, 1 to 6 other tokens",
            c.own_term_is_summed,
            tuple({"n_tokens": n} for n in range(2, 8)),
            Control("twice that term", lambda n_tokens: c.own_term_is_summed(n_tokens, own=2)),
        ),
        formula=r"\sum_n e^{S_{m\to n}}\ge e^{q_m\cdot k_m}",
        coverage=everywhere("The own score's exponential is one term of a sum of positive ones, however many."),
        is_correction=True,
    ),
    mathematical(
        "razor.appA.positive",
        PROOF + ", bound of the attention weight",
        "The own token's term exp(q_m . k_m) may be written exp(q q^T), and so left out as at least 1.",
        exact(
            "one dimension, RMSNorm, W_Q^T W_K = -1..-8: e^{q.k} is below 1 and e^{q.q} above",
            c.below_one,
            tuple({"product": -n} for n in range(1, 9)),
            Control("a positive product", None, ({"product": 1},)),
        ),
        defect="razor.thm1",
        verdict=Verdict.FALSE,
        severity=Severity.BREAKS,
        coverage=WITNESSED,
        formula=r"e^{q_mk_m^T}=e^{q_mq_m^T}\ge 1",
        witness=Witness({"product": -2}),
        correction="razor.appA.gap",
        note="The term is query against key, and is below 1 wherever that product is negative. The inequality as "
        "printed, for q against itself, is true: razor.appA.square.",
    ),
    mathematical(
        "razor.appA.square",
        PROOF + ", bound of the attention weight",
        "exp(q q^T) is at least 1.",
        symbolic(
            "a sum of squares in free coordinates, and e^t >= 1 + t",
            c.square_at_least_one,
            ({},),
            Control("the square with a minus", lambda: c.square_at_least_one(sign=-1)),
        ),
        formula=r"e^{qq^T}\ge 1",
        coverage=everywhere("q q^T is a sum of squares in every dimension, and e^t >= 1 + t for every real t."),
        note="It is not the term of the sum: razor.appA.positive.",
    ),
    mathematical(
        "razor.appA.gap",
        PROOF + ", corrected",
        "q_m . k_n - q_m . k_m <= D_s <= D; for a symmetric form with eigenvalues -p..r, RMSNorm with unit gains, "
        "D_s = 2dp if p > 0 and r <= 3p, else d(r + p)^2/(4(r - p)), times 1/sqrt(d_head).",
        symbolic(
            "free p, r and eigenvalues: a chord and two differences that are squares or products of signed factors",
            c.gap_by_chord,
            ({},),
            Control("half of the quadratic term", lambda: c.gap_by_chord(curve=2)),
        ),
        exact(
            "enclosures of D_s by a query and a multiplier against the closed form, diagonal heads in balls",
            c.symmetric_gap,
            tuple({"low": low, "high": high} for low, high in ((-1, 2), (-1, 4), (0, 3), (-2, -1), (1, 5), (-3, 9))),
            Control("D_s = 2dp always", lambda **p: c.symmetric_gap(**p, formula="self")),
        ),
        formula=r"q_m\cdot k_n-q_m\cdot k_m\le D_s\le D",
        coverage=everywhere(
            "The first line is the definition; the best key of a query u is along S u, the chord of t^2 bounds |S u|^2 "
            "and two extreme eigenvectors reach it, and both forms of the maximum are shown for free p and r."
        ),
        is_correction=True,
    ),
    mathematical(
        "razor.sec3.1.domination",
        "RazorAttention, Section 3.1",
        "When l_h (m - n) significantly dominates q_m . k_n the attention between the two tokens decays to zero.",
        symbolic(
            "the own logit at -B, the target's at B and any sum of other terms; the limit of the bound",
            c.bounded_logits,
            ({},),
            Control("B for 2B", lambda: c.bounded_logits(factor=1)),
        ),
        verdict=Verdict.HOLDS_IF,
        severity=Severity.READING,
        reading="The distance grows, and the logits of the query are at most B in size, as a norm before makes them: "
        "the attention is at most e^{2B - l_h (m - n)}.",
        coverage=everywhere("Slope, bound, distance and the sum of all other terms are free symbols."),
        formula=r"|q_mk_j^T|\le B\ \forall j\Rightarrow a_{m\to n}\le e^{2B-l_h(m-n)}\to 0",
        note="All logits of the query must be dominated, its own token's among them: hence 2B and not B; "
        "razor.sec3.1.domination.wider has q_m . k_n = 0.",
    ),
    mathematical(
        "razor.sec3.1.domination.wider",
        "RazorAttention, Section 3.1, added",
        "To dominate q_m . k_n alone is not enough: at every distance up to 60 some head has q_m . k_n = 0 and a "
        "weight above one half, its other logits lying lower.",
        exact(
            "q_m . k_n = 0 and every other logit -2c, in balls",
            c.dominated,
            tuple({"strength": n + 4, "distance": n} for n in range(1, 61)),
            Control("the other logits at 0 as well", None, ({"strength": 0, "distance": 5},)),
        ),
        formula=r"q_mk_n^T=0,\ a_{m\to n}>\frac12",
        coverage=ENUMERATED,
        is_correction=True,
        note="A softmax does not see a shift: the slope has to dominate q_m . (k_n - k_j) for some nearer token j.",
    ),
)
