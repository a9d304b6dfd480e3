"""The cache of RazorAttention as built: equal to the masked computation it stands for."""

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from proofs_check.evidence.margin import Margin, close
from proofs_check.evidence.tolerances import ROUNDING
from proofs_check.ledger.claim import SAMPLES, Claim, Control, Effort
from proofs_check.ledger.mathematical import mathematical, sampled
from theory import alibi

METHOD = "RazorAttention, Section 3.2, Eq. 4 and 5, Table 2, added"
KEPT, TOKEN = r"\sum_{j\le t,j\notin D_t}e^{s_{tj}}", r"e^{m_t+q_t\hat k_t}"
OUTPUT = rf"o_t=\frac{{{KEPT}v_j+{TOKEN}\hat v_t}}{{{KEPT}+{TOKEN}}}"
KINDS = ("none", "mean", "alibi", "centred")
LENGTH, WIDTH, SCALE = 26, 4, 0.6


def drawn(seed: int) -> tuple[Any, list[int], Any]:
    """A plan with groups, sinks, a window and a prompt, a division of LENGTH tokens into chunks, and slopes or None."""
    import torch

    from dynamics.razor.plan import RazorPlan

    rng = np.random.default_rng(seed)
    kind, n_kv_heads, group = KINDS[seed % 4], int(rng.integers(1, 4)), int(rng.integers(1, 3))
    full = frozenset(int(head) for head in range(1, n_kv_heads) if rng.random() < 0.5)
    plan = RazorPlan(
        n_kv_heads * group, n_kv_heads, (full,), sinks=int(rng.integers(0, 3)), buffer=int(rng.integers(2, 6)),
        share=Fraction(int(rng.integers(0, 3)), 5), compensation=kind, prompt=int(rng.integers(1, 10)),
    )  # fmt: skip
    chunks, left = [], LENGTH
    while left:
        chunks.append(int(min(left, rng.integers(1, 9))))
        left -= chunks[-1]
    with_slopes = kind == "alibi" or rng.random() < 0.5
    return plan, chunks, torch.tensor(alibi.slopes(plan.n_heads)).double() if with_slopes else None


def stream(plan: Any, seed: int) -> list[Any]:
    """query, key, value, (1, heads, LENGTH, WIDTH), float64."""
    import torch

    rng = np.random.default_rng(seed)
    heads = (plan.n_heads, plan.n_kv_heads, plan.n_kv_heads)
    return [torch.from_numpy(1.5 * rng.standard_normal((1, count, LENGTH, WIDTH))) for count in heads]


def in_chunks(seed: int, sinks: int = 0, buffer: int = 0) -> Margin:
    """The cache in chunks against the masked computation; with so many more sinks and kept tokens in the cache."""
    import torch

    from dynamics.razor.cache import RazorCache
    from dynamics.razor.masked import MaskedAttention

    plan, chunks, slopes = drawn(seed)
    tokens = stream(plan, seed)
    cache = RazorCache(replace(plan, sinks=plan.sinks + sinks, buffer=plan.buffer + buffer))
    parts = zip(*(x.split(chunks, dim=2) for x in tokens), strict=True)
    found = [cache(0, *part, scale=SCALE, slopes=slopes) for part in parts]
    return close(torch.cat(found, dim=2), MaskedAttention(plan)(0, *tokens, scale=SCALE, slopes=slopes), ROUNDING)


def without_count(seed: int) -> Margin:
    """As `in_chunks`, the token weighing as one token instead of N_d."""
    from unittest.mock import patch

    from dynamics.razor import layer as razor_layer
    from dynamics.razor.token import fold

    def wrong(*args: Any) -> Any:
        found = fold(*args)
        return found._replace(total=found.total.clamp(max=0.0))

    with patch.object(razor_layer, "fold", wrong):
        return in_chunks(seed)


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
            in_chunks,
            lambda effort: [{"seed": seed} for seed in range(40 if effort is Effort.QUICK else 800)],
            Control("one sink more", lambda seed: in_chunks(seed, sinks=1)),
            Control("a window one token longer", lambda seed: in_chunks(seed, buffer=1)),
            Control("the token without ln N_d", without_count),
        ),
        formula=OUTPUT,
        coverage=SAMPLES,
        hypotheses=("N - window never falls with N", "means in float64"),
        is_correction=True,
        note="The means are updated, not formed again: under ALiBi the mass decays by e^{-l} with each query.",
    ),
)
