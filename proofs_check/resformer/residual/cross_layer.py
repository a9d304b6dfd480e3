"""Section 3 of ResFormer: cross-layer attention and its approximation, the residual, NeuTRENO and DenseFormer."""

from proofs_check.ledger.claim import INSTANCES, SAMPLES, Claim, Control, Severity, Verdict
from proofs_check.ledger.exact_claim import unsettled_claim
from proofs_check.ledger.mathematical import ONCE, mathematical, sampled, symbolic
from proofs_check.resformer.residual import checks as c

SEEDS = tuple({"seed": seed} for seed in range(40))
SECTION = "ResFormer, Section 3.2"
# Of a stack as theory.value_residual has it.
ONE_MATRIX = "all layers have one A"
OUTPUTS = "the values of a layer are the output of the one before: no projections, no residual stream, no norms"

CLAIMS: tuple[Claim, ...] = (
    mathematical(
        "resformer.eq4",
        f"{SECTION}, Equations 3 and 4",
        "With the present layer's keys twice, cross-layer attention is half of one softmax times the sum of values.",
        formula=r"\mathrm{softmax}([S,S])\begin{pmatrix}V_n\\V_m\end{pmatrix}=\tfrac12\,\mathrm{softmax}(S)(V_n+V_m)",
    ),
    mathematical(
        "resformer.eq5",
        f"{SECTION}, Equation 5",
        "With the present layer's keys for all n layers it is 1/n of one softmax times the sum of all values.",
        formula=r"U_n=\tfrac1nA_n\sum_{i\le n}V_i",
    ),
    mathematical(
        "resformer.eq4.gap",
        f"{SECTION}, added",
        "Equations 2 and 4 differ, in any norm, by at most tanh(r/4) times the diameter of the values of both layers, "
        "r the range of 0 and the differences between a query's logits to the two layers' keys.",
        symbolic(
            "tanh(r/4) has a square over positive factors more than what any share gains by weights a factor e^r apart",
            c.slack_is_a_square,
            ONCE,
            Control("a factor e^{3r/2}", lambda: c.slack_is_a_square(3)),
        ),
        sampled(
            "40 random heads with values in a plane stay below it",
            c.gap_is_bounded,
            SEEDS,
            Control("a quarter of the range", lambda seed: c.gap_is_bounded(seed, looser=4)),
        ),
        sampled(
            "two keys reach it, at four ranges",
            c.gap_is_reached,
            tuple({"logit_range": r} for r in (0.1, 1.0, 4.0, 12.0)),
            Control("one per cent more", lambda logit_range: c.gap_is_reached(logit_range, 1.01)),
        ),
        coverage=SAMPLES,
        is_correction=True,
        formula=r"\|U_{(2)}-U_{(4)}\|\le\tanh(r/4)\operatorname{diam}(V_n\cup V_m)",
        note="What Section 3.1 asks of cross-layer attention, a small weight on a layer that says little, is lost: Eq. "
        "4 gives each layer one half.",
    ),
    unsettled_claim(
        "resformer.fig4.cosine",
        f"{SECTION} and Figure 4",
        "On a trained model Equation 4 is a good approximation of Equation 2, by cosine similarity, and better than "
        "Equation 6.",
        "The trained baseline and its 1000 samples; resformer.eq4.gap bounds the error by the range of the logits.",
    ),
    mathematical(
        "resformer.eq6.mass",
        f"{SECTION}, Equation 6",
        "The identity mapping gives the values weights that sum to 2, where Equation 5 has 1.",
        is_correction=True,
        formula=r"\sum_jA_{ij}+\sum_{i<n}\tfrac1{n-1}=2",
        note="A comparison by loss (Figure 10) changes the mapping and the scale at once; at n = 1 the formula divides "
        "by 0. With the weights of Equation 5 the mapping is (1/n)(A V_n + V_1 + .. + V_{n-1}).",
    ),
    mathematical(
        "resformer.fig8.class",
        "ResFormer, Section 4.2 and Figure 8, added",
        "For every two nonzero lambda the layers A(V_n + lambda V_1) W_O are the same functions: scale W_V by the "
        "quotient and W_O by its inverse.",
        is_correction=True,
        formula=r"A(V_n+\lambda V_1)=\tfrac{\lambda}{\lambda'}A\left(\tfrac{\lambda'}{\lambda}V_n+\lambda'V_1\right)",
        note="So lambda is an initialisation, a step size and a decay, not what the model can express; Equation 7 is "
        "lambda = 1 up to the factor 1/2 of W_O.",
    ),
    unsettled_claim(
        "resformer.fig8.best",
        "ResFormer, Section 4.2 and Figure 8",
        "Every lambda beats the Transformer, and 2 is the best of those tried.",
        "Trainings of 82M models over several seeds.",
    ),
    mathematical(
        "resformer.eq8",
        "ResFormer, Section 3.4, Equation 8",
        "NeuTRENO, which adds lambda (V_1 - V_n) to the attention output, is (A - lambda I) V_n + lambda V_1.",
        formula=r"(A_n-\lambda I)V_n+\lambda V_1=A_nV_n+\lambda(V_1-V_n)",
    ),
    mathematical(
        "resformer.eq8.fixed",
        "ResFormer, Section 3.4, Equation 8, added",
        "Along an eigenvector of a constant A of real eigenvalue mu, the distance of NeuTRENO's layers to "
        "lambda v_1/(1 + lambda - mu) is multiplied by mu - lambda a layer: it grows where |mu - lambda| > 1.",
        is_correction=True,
        hypotheses=(ONE_MATRIX, OUTPUTS),
        note="A swap of two tokens has mu = -1: unstable for every lambda > 0; a causal A for lambda > 1 + min A_ii. "
        "With the residual stream of the paper's models the factor is 1 + mu - lambda instead.",
        formula=r"u^*=\frac{\lambda v_1}{1+\lambda-\mu},\quad u'-u^*=(\mu-\lambda)(u-u^*)",
    ),
    mathematical(
        "resformer.eq9",
        "ResFormer, Section 3.4, Equation 9",
        "If we ignore the attention output projection and the MLP layer, DenseFormer can also be modeled within our "
        "framework as U_n = sum_{i=1}^n alpha_i A_i V_i.",
        symbolic(
            "two layers with their residuals, averaged with the embeddings: free weights, embeddings and outputs",
            c.denseformer,
            ONCE,
            Control("no term for the embeddings", lambda: c.denseformer(embedded=False)),
        ),
        verdict=Verdict.HOLDS_IF,
        severity=Severity.READING,
        coverage=INSTANCES,
        reading="Of what attention adds: in DenseFormer the embeddings have a weight of their own, and Equation 9 no "
        "term for it.",
        note="The embeddings left out: DenseFormer averages them with the outputs, and each layer's residual carries "
        "them on.",
        formula=r"Y_2=\bigl(\alpha_{20}+\alpha_{21}+\alpha_{22}(\alpha_{10}+\alpha_{11})\bigr)X_0"
        r"+(\alpha_{21}+\alpha_{22}\alpha_{11})A_1V_1+\alpha_{22}A_2V_2",
    ),
    unsettled_claim(
        "resformer.eq9.hyper",
        "ResFormer, Section 3.4, Equation 9",
        "The alpha_i of DenseFormer are hyper-parameters.",
        "A reading of the cited paper: there they are learnt.",
    ),
    mathematical(
        "resformer.beyond.pagerank",
        "ResFormer, Equation 7, added",
        "Along an eigenvector of a constant A of real eigenvalue mu, a stack of value residuals "
        "A(V_n + lambda V_1)/(1 + lambda) goes to mu lambda v_1/(1 + lambda - mu), by the factor mu/(1 + lambda) a "
        "layer.",
        is_correction=True,
        hypotheses=(ONE_MATRIX, OUTPUTS),
        formula=r"\mu\mapsto\frac{\mu\lambda}{1+\lambda-\mu}",
        note="Personalised PageRank; n plain layers leave mu^n, which goes to 0 for |mu| < 1. Equation 7 has lambda = "
        "1. Section 4.2 does not divide by 1 + lambda, and adds lambda v_1 a layer along mu = 1.",
    ),
    mathematical(
        "resformer.beyond.smoothing",
        "ResFormer, Sections 1 and A.1, added",
        "Concentration smooths: where every row, causal or not, gives the first token at least a, one layer of "
        "attention leaves at most 1 - a of the range of every coordinate of the values.",
        is_correction=True,
        formula=r"\operatorname{range}(AV)\le(1-a)\operatorname{range}(V)",
        note="So L layers without residuals by (1 - a)^L. A value residual acts before A, and cannot undo A = 1 e_1^T.",
    ),
)
