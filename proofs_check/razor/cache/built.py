"""The cache of RazorAttention as built: equal to the masked computation it stands for, and its size in bytes."""

from proofs_check.ledger.claim import INSTANCES, SAMPLES, Claim, Control, Effort, Nature
from proofs_check.ledger.mathematical import exact, mathematical, sampled
from proofs_check.razor.cache import built_checks as c

METHOD = "RazorAttention, Section 3.2, Eq. 4 and 5, Table 2, added"
LONG = tuple({"length": n} for n in (20_000, 20_005, 40_000))
EVERY_KIND = tuple({"seed": seed} for seed in range(24))
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
            "float64, to 1e-12",
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
    mathematical(
        "razor.cache.bytes",
        METHOD,
        "A layer holds exactly the bytes of f N + l (N - dropped) keys and values and of its compensation tokens: one "
        "float64 key, value and log mass for each head that is not full (weights that decay or are centred: for each "
        "of its g query heads, and centred a float64 mean query each besides).",
        exact(
            "storages of 24 random caches after 26 tokens, the last of them in one chunk, counted",
            c.bytes_held,
            EVERY_KIND,
            Control("one number more", lambda seed: c.bytes_held(seed, extra=8)),
        ),
        nature=Nature.TABLE,
        coverage=INSTANCES,
        is_correction=True,
        formula=r"\left(fN+l(N-|D_N|)\right)(d_k+d_v)b+8lm(d_k+d_v+1)\;[{}+8lg\,d_k\text{ if centred}]",
        note="While tokens come one by one they are stored in place, in at most `plan.spare_bytes` more.",
    ),
    mathematical(
        "razor.cache.ratio",
        "RazorAttention, Table 2, added",
        "As allocated for 20 heads, 3 of them full, the cache of N tokens, N >= 20000 a multiple of 5, is 3.125 times "
        "smaller; with 4 sinks and the compensation tokens counted (d = 128, 16 bits) between 3.12 and 3.125 times.",
        exact(
            "storages of caches of 20000, 20005 and 40000 tokens, width 1, without sinks and compensation",
            c.allocated_ratio,
            LONG,
            Control("four sinks", lambda length: c.allocated_ratio(length, sinks=4)),
            Control("19999 tokens", None, ({"length": 19_999},)),
        ),
        exact(
            "the formula of razor.cache.bytes with sinks and tokens",
            c.with_tokens,
            LONG,
            Control("64 sinks", lambda length: c.with_tokens(length, sinks=64)),
        ),
        nature=Nature.TABLE,
        coverage=INSTANCES,
        is_correction=True,
        formula=r"\frac{1}{0.15+0.85/5}=3.125",
    ),
)
