"""What ResFormer measures (Sections 4.1.3, 4.1.4, Appendix A.1) and how concentration, drain and smoothing hang
together."""

from proofs_check.ledger.claim import SAMPLES, WITNESSED, Claim, Control, Severity, Verdict
from proofs_check.ledger.mathematical import exact, mathematical, sampled
from proofs_check.resformer.concentration import checks as c

ENTROPY = "ResFormer, Section 4.1.3, Equation 11"
SEEDS = tuple({"seed": seed} for seed in range(40))
LOST = {16: 0.3618, 256: 0.4179, 4096: 0.4224, 65_536: 0.4228}

CLAIMS: tuple[Claim, ...] = (
    mathematical(
        "resformer.eq11.importance",
        ENTROPY,
        "The importance vector is a = (1/l) sum_{j=1}^l A_ij, where A is a lower triangular matrix.",
        exact(
            "two tokens, the second attending to the first by 1/2: the means of the rows, and those of the columns",
            c.rows_are_no_columns,
            ({},),
            Control("columns for rows", lambda: c.rows_are_no_columns(axis=0)),
        ),
        verdict=Verdict.TYPO,
        severity=Severity.MISPRINT,
        coverage=WITNESSED,
        witness={},
        note="The mean of column j, a_j = (1/l) sum_i A_ij: what token j receives. The mean of a row is 1/l, whatever "
        "A is (resformer.eq11.rows).",
        formula=r"a_j=\frac1l\sum_{i=1}^lA_{ij}",
    ),
    mathematical(
        "resformer.eq11.higher",
        ENTROPY,
        "The higher the entropy e, the greater the degree of clustering in a, i.e., attention matrix A is more likely "
        "to focus on several specific tokens.",
        exact(
            "two tokens: entropy log 2 where both receive alike, less where the first receives 3/4",
            c.concentrated_is_lower,
            ({},),
            Control("exchanged", lambda: c.concentrated_is_lower(exchanged=True)),
        ),
        verdict=Verdict.TYPO,
        severity=Severity.MISPRINT,
        coverage=WITNESSED,
        witness={},
        correction="resformer.eq11.lower",
        reading="A slip: the caption of Figure 1 and Section 1 say that lower entropy is concentration.",
        note="The lower the entropy e.",
        formula=r"e(\tfrac34,\tfrac14)<e(\tfrac12,\tfrac12)",
    ),
    mathematical(
        "resformer.eq11.focus",
        f"{ENTROPY}, added",
        "Under a causal mask the entropy is at most log l - 2 ((1 - A_ii)/l)^2 for every i: log l only where no token "
        "attends to another. Uniform attention has less, at 4096 tokens .4224 less.",
        sampled(
            "40 random causal matrices, as they are and a tenth of the way from the identity to them",
            c.mixing_lowers,
            tuple({**seed, "mixed": mixed} for seed in SEEDS for mixed in (1.0, 0.1)),
            Control("2.2 for 2", lambda seed, mixed: c.mixing_lowers(seed, mixed, factor=2.2)),
        ),
        sampled(
            "uniform attention at four lengths: log l less .3618, .4179, .4224 and .4228, and 1 - gamma from below",
            c.uniform_is_lower,
            tuple({"length": length, "printed": lost} for length, lost in LOST.items()),
            Control("1 for 1 - gamma", lambda length, printed: c.uniform_is_lower(length, printed, limit=1.0)),
            Control(".4225", points=({"length": 4096, "printed": 0.4225},)),
        ),
        is_correction=True,
        coverage=SAMPLES,
        note="So a high entropy is no sign of dispersed attention: it also means no mixing at all.",
        formula=r"e\le\log l-2\left(\frac{1-A_{ii}}l\right)^2",
    ),
    mathematical(
        "resformer.eq13.similarity",
        "ResFormer, Appendix A.1, Equation 13, added",
        "The average token similarity s of Equation 13 is (|sum of directions|^2 - l)/(l (l - 1)), between -1/(l - 1) "
        "and 1.",
        sampled(
            "40 random states: the double sum over pairs, and one sum of directions",
            c.similarity_is_a_norm,
            SEEDS,
            Control("with the pairs of a token and itself", lambda seed: c.similarity_is_a_norm(seed, own=True)),
        ),
        coverage=SAMPLES,
        is_correction=True,
        formula=r"s=\frac{\|\sum_i\hat h_i\|^2-l}{l(l-1)}",
    ),
)
