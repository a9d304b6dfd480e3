"""Section 3 of ResFormer: cross-layer attention and its approximation, the residual, NeuTRENO and DenseFormer."""

from proofs_check.ledger.claim import INSTANCES, SAMPLES, Claim, Control, Severity, Verdict
from proofs_check.ledger.mathematical import ONCE, mathematical, sampled, symbolic
from proofs_check.resformer.residual import checks as c

SEEDS = tuple({"seed": seed} for seed in range(40))
SECTION = "ResFormer, Section 3.2"
# Of a stack as theory.value_residual has it.
OUTPUTS = "the values of a layer are the output of the one before: no projections, no residual stream, no norms"

CLAIMS: tuple[Claim, ...] = (
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
)
