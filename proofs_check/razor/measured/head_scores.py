"""Echo and induction heads of RazorAttention: scores with a definition, planted heads, counts, the shipped models."""

from proofs_check.ledger.claim import (
    INSTANCES,
    SAMPLES,
    Claim,
    Control,
    Effort,
    Evidence,
    Kind,
    Nature,
    Verdict,
)
from proofs_check.ledger.mathematical import exact, mathematical, sampled
from proofs_check.razor.measured import head_scores_checks as c

SECTION = "RazorAttention, Section 3.3"



def _seeds(quick: int, full: int):
    return lambda effort: [{"seed": seed} for seed in range(quick if effort is Effort.QUICK else full)]


def _long_prompts(effort: Effort):
    names = ("kv-shift", "vanilla-1", "vanilla-2")
    return [{"name": name, "k": k} for name in names for k in ((250,) if effort is Effort.QUICK else (250, 2500))]


CLAIMS: tuple[Claim, ...] = (
    mathematical(
        "razor.heads.scores",
        SECTION + " (the definitions are not in the text at hand)",
        "On K distinct random tokens repeated R times a head's echo score is its mean attention to all earlier copies "
        "of the current token, its induction score that to the tokens right after them, over all queries but the "
        "first K; both come from blocks of rows, without a whole matrix.",
        sampled(
            "random models with RoPE, ALiBi and no positions, mixed keys, GQA: blocks of rows against whole matrices",
            c.against_matrices,
            _seeds(12, 120),
            Control("the token after for the copy", lambda seed: c.against_matrices(seed, copy=1)),
            Control("the copy for the token after", lambda seed: c.against_matrices(seed, successor=0)),
        ),
        exact(
            "a head that weighs the token and its copies alike has echo 1 - (1/2 + .. + 1/R)/(R-1), 23/36 at R = 4",
            c.equal_copies,
            tuple({"repeats": r, "k": k} for r in range(2, 9) for k in (3, 10, 50)),
            Control("the token left out", lambda repeats, k: c.equal_copies(repeats, k, own=False)),
        ),
        formula=r"\frac{1}{(R-1)K}\sum_{t=K}^{RK-1}\sum_{j=1}^{\lfloor t/K\rfloor}a_{t,\,t-jK+s},\quad "
        r"s=0\text{ (echo)},\ s=1\text{ (induction)}",
        coverage=INSTANCES,
        hypotheses=("K >= 3 distinct tokens", "R >= 2"),
        is_correction=True,
    ),
    mathematical(
        "razor.heads.planted",
        SECTION + " and KV shifting, Theorems 3.2 and 3.3",
        "In random models whose echo, induction (one layer of KV shifting; two layers with a previous-token head) and "
        "previous-token heads are known, exactly these exceed one half in their score.",
        sampled(
            "2 to 4 layers, 4 to 8 heads, MHA and GQA, RoPE, ALiBi, none; random heads, one without a query, heads "
            "that look at the token itself or two back",
            c.planted,
            _seeds(8, 50),
            Control("copies for the tokens after", lambda seed: c.planted(seed, "copy for successor")),
            Control("only the first layer's heads", lambda seed: c.planted(seed, "first layer only")),
        ),
        formula=r"\text{score}_h>\tfrac12\iff h\text{ is planted}",
        coverage=SAMPLES,
        hypotheses=("logits of a match far above all others",),
        is_correction=True,
    ),
    mathematical(
        "razor.heads.echo_not_needed",
        "RazorAttention, Section 4.3.1",
        "Induction heads need no echo heads: with all echo heads silenced no score falls below 0.95. The two-layer "
        "induction head needs its previous-token head.",
        sampled(
            "planted heads under RoPE and ALiBi, queries and outputs of all echo heads at zero",
            c.needs_no_echo,
            _seeds(6, 40),
            Control("the previous-token head silenced", lambda seed: c.needs_no_echo(seed, silenced="previous")),
        ),
        formula=r"\max_h\text{echo}_h<\tfrac12,\quad\min_{h\text{ planted}}\text{induction}_h\ge 0.95",
        coverage=SAMPLES,
        note="Print offers the dependence as one possible explanation of its Figure 5, from Olsson et al.; what those "
        "found is that induction heads compose with previous-token heads.",
        is_correction=True,
    ),
    Claim(
        id="razor.heads.shipped",
        source=SECTION + " (the prompt's length is not a detail)",
        statement="Of models trained on induction, prompts of 5 to 15 tokens four times name the same induction heads "
        "as their attention on the task does: all four with KV shifting, none in the vanilla ones. Longer prompts than "
        "those trained on do not: at 250 tokens, and at 2500, no score is above one half.",
        nature=Nature.EMPIRICAL,
        verdict=Verdict.HOLDS,
        evidence=(
            Evidence(
                Kind.TRAINED,
                "the shipped checkpoints, their hashes checked: one or two RoPE layers of four heads, width 64, "
                "vocabulary 8000, 500 steps, seed 0; sentences of 29 tokens on average",
                c.shipped_names,
                tuple({"name": name, "k": k} for name in ("kv-shift", "vanilla-1", "vanilla-2") for k in (5, 10, 15)),
                (Control("250 tokens four times", None, ({"name": "kv-shift", "k": 250},)),),
            ),
            Evidence(
                Kind.TRAINED,
                "the same models on 250 distinct tokens, four times (full: 2500 too)",
                c.no_name,
                _long_prompts,
                (Control("10 tokens", None, ({"name": "kv-shift", "k": 10},)),),
            ),
        ),
        coverage=SAMPLES,
        is_correction=True,
    ),
)
