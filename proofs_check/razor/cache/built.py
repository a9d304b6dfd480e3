"""The cache of RazorAttention as built: equal to the masked computation it stands for."""

from proofs_check.ledger.claim import SAMPLES, Claim, Control, Effort
from proofs_check.ledger.mathematical import mathematical, sampled
from proofs_check.razor.cache import built_checks as c

METHOD = "RazorAttention, Section 3.2, Eq. 4 and 5, Table 2, added"
KEPT, TOKEN = r"\sum_{j\le t,j\notin D_t}e^{s_{tj}}", r"e^{m_t+q_t\hat k_t}"
OUTPUT = rf"o_t=\frac{{{KEPT}v_j+{TOKEN}\hat v_t}}{{{KEPT}+{TOKEN}}}"


def _draws(effort: Effort) -> list[dict[str, int]]:
    return [{"seed": seed} for seed in range(40 if effort is Effort.QUICK else 800)]


CLAIMS: tuple[Claim, ...] = (
    mathematical(
        "razor.cache.decode",
        METHOD,
        "A cache that keeps sinks, a window that never moves back and a running compensation token gives each query, "
        "in whatever chunks the tokens come, what it would read from all tokens under a mask with the token of its "
        "own dropped set.",
        sampled(
            "random plans with groups, prompts, slopes and all kinds of compensation, 26 tokens in random chunks; "
            "float64",
            c.in_chunks,
            _draws,
            Control("one sink more", lambda seed: c.in_chunks(seed, c.one_sink_more)),
            Control("a window one token longer", lambda seed: c.in_chunks(seed, c.window_one_longer)),
            Control("the token without ln N_d", c.without_count),
        ),
        formula=OUTPUT,
        coverage=SAMPLES,
        hypotheses=("N - window never falls with N", "means in float64"),
        is_correction=True,
        note="The means are updated, not formed again: under ALiBi the mass decays by e^{-l} with each query.",
    ),
)
