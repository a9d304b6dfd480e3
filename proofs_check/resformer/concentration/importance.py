"""What ResFormer measures (Sections 4.1.3, 4.1.4, Appendix A.1) and how concentration, drain and smoothing hang
together."""

from proofs_check.ledger.claim import SAMPLES, WITNESSED, Claim, Control, Severity, Verdict, Witness
from proofs_check.ledger.exact_claim import unsettled_claim
from proofs_check.ledger.mathematical import exact, mathematical, sampled
from proofs_check.resformer.concentration import checks as c

ENTROPY = "ResFormer, Section 4.1.3, Equation 11"
SEEDS = tuple({"seed": seed} for seed in range(40))

CLAIMS: tuple[Claim, ...] = (
    mathematical(
        "resformer.eq11.importance",
        ENTROPY,
        "The importance of token i is the mean of row i of the attention matrix.",
        exact(
            "two tokens, the second attending to the first by 1/2: the rows are alike, the columns are not",
            c.rows_are_alike,
            ({},),
            Control("columns", lambda: c.rows_are_alike(columns=True)),
        ),
        verdict=Verdict.TYPO,
        severity=Severity.MISPRINT,
        coverage=WITNESSED,
        witness=Witness({}),
        correction="resformer.eq11.rows",
        note="The mean of column j, a_j = (1/l) sum_i A_ij: what token j receives. It sums to 1 without a division.",
        formula=r"a_j=\frac1l\sum_{i=1}^lA_{ij}",
    ),
    mathematical(
        "resformer.eq11.rows",
        f"{ENTROPY}, corrected",
        "The mean of a row is 1/l for every softmax, and so the entropy of all of them is log l, whatever A is.",
        is_correction=True,
        formula=r"\frac1l\sum_jA_{ij}=\frac1l",
    ),
    mathematical(
        "resformer.eq11.higher",
        ENTROPY,
        "The higher the entropy of importance is, the more the attention is on a few tokens.",
        exact(
            "two tokens: entropy log 2 where both receive alike, less where the first receives 3/4",
            c.concentrated_is_lower,
            ({},),
            Control("exchanged", lambda: c.concentrated_is_lower(exchanged=True)),
        ),
        verdict=Verdict.TYPO,
        severity=Severity.MISPRINT,
        coverage=WITNESSED,
        witness=Witness({}),
        correction="resformer.eq11.entropy",
        reading="A slip: the caption of Figure 1 and Section 1 say that lower entropy is concentration.",
        note="The lower.",
        formula=r"e(\tfrac34,\tfrac14)<e(\tfrac12,\tfrac12)",
    ),
    mathematical(
        "resformer.eq11.entropy",
        f"{ENTROPY}, corrected",
        "The entropy of any importances lies between 0 and log l.",
        is_correction=True,
        formula=r"0\le-\sum_ja'_j\log a'_j\le\log l",
        note="Equal ones have log l (resformer.eq11.rows), all on one token 0.",
    ),
    mathematical(
        "resformer.eq11.first",
        f"{ENTROPY}, added",
        "Under a causal mask the first token's importance is at least 1/l: the first row gives it all it has.",
        is_correction=True,
        formula=r"a_1\ge\frac1l",
    ),
    mathematical(
        "resformer.eq11.focus",
        f"{ENTROPY}, added",
        "Under a causal mask the entropy is log l only where no token attends to another, and uniform attention has "
        "less: at 4096 tokens .4224 less.",
        sampled(
            "40 random causal matrices stay below log l by what the first importance forces",
            c.first_forces,
            SEEDS,
            Control("the bound of a larger share", lambda seed: c.first_forces(seed, share=1.5)),
        ),
        sampled(
            "uniform causal attention at four lengths: log l less 1 - gamma, from below",
            c.uniform_is_lower,
            tuple({"length": length} for length in (16, 256, 4096, 65_536)),
            Control("1", lambda length: c.uniform_is_lower(length, limit=1.0)),
        ),
        is_correction=True,
        coverage=SAMPLES,
        note="So a high entropy is no sign of dispersed attention: it also means no mixing at all.",
        formula=r"e\le h(a_1)+(1-a_1)\log(l-1)",
    ),
    mathematical(
        "resformer.eq12.scale",
        "ResFormer, Section 4.1.4, Equation 12, added",
        "W_V times c and W_O over c give the same output of the layer, and second moments c^2 times as large.",
        is_correction=True,
        note="So larger eigenvalues of the values alone say nothing about what a model can represent.",
        formula=r"A(cV)\tfrac{W_O}{c}=AVW_O",
    ),
    unsettled_claim(
        "resformer.fig12.capacity",
        "ResFormer, Section 4.5 and Figure 12",
        "The values of most layers of ResFormer have a stronger representational capacity.",
        "What is shown are eigenvalues, which a rescaling changes freely (resformer.eq12.scale); it takes a measure "
        "that does not depend on the scale, and the trained models.",
    ),
    mathematical(
        "resformer.eq13.similarity",
        "ResFormer, Appendix A.1, Equation 13",
        "The average token similarity is the mean cosine over all pairs of different tokens.",
        sampled(
            "40 random states: the double sum is (|sum of directions|^2 - l)/(l (l - 1)), from -1/(l - 1) to 1",
            c.similarity_is_a_norm,
            SEEDS,
            Control("with the pairs of a token and itself", lambda seed: c.similarity_is_a_norm(seed, own=True)),
        ),
        coverage=SAMPLES,
        reading="As defined; that it can be computed from one sum of directions is ours.",
        formula=r"s=\frac{\|\sum_i\hat h_i\|^2-l}{l(l-1)}",
    ),
    mathematical(
        "resformer.beyond.sink_range",
        "ResFormer, Section 4.1.3, added",
        "A token of n has at most the weight e^r/(e^r + n - 1), r the range of the query's logits, and reaches it.",
        is_correction=True,
        formula=r"a\le\frac{e^r}{e^r+n-1}",
        note="A sink of weight t needs r >= ln(t (n - 1)/(1 - t)): 10.5 for .9 of 4096 tokens.",
    ),
    mathematical(
        "resformer.beyond.drain",
        "ResFormer, Sections 1 and 4.5, added",
        "At a fixed weight a of a sink, gradient flow with decay m pulls its effective value v + v_1 at the rate a^2 + "
        "m to m v_1/(a^2 + m): to 0 without decay, value residual or not.",
        is_correction=True,
        note="A model of one sink: the loss is half the mean square of a (v + v_1) + (1 - a) r with centred r.",
        formula=r"v+v_1\to\frac{\mu v_1}{a^2+\mu}",
    ),
    unsettled_claim(
        "resformer.sec4.5.disrupts",
        "ResFormer, Sections 1 and 4.5",
        "The residual to the first layer's values disrupts the mutual reinforcement of concentration and drain.",
        "A mechanism in trained models. In a model of one sink it does so only with weight decay "
        "(resformer.beyond.drain); it takes interventions on both.",
    ),
    unsettled_claim(
        "resformer.sec1.svformer_alleviates",
        "ResFormer, Section 1",
        "As all layers share the first layer's values, SVFormer can alleviate concentration too.",
        "Trained models. It does not follow: a token whose first value is 0 is drained in all layers at once.",
    ),
)
