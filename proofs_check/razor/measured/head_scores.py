"""Echo and induction heads of RazorAttention: scores with a definition, planted heads, counts, the shipped models."""

from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np

from proofs_check.evidence.margin import Margin, at_most, close, less, same, worst
from proofs_check.evidence.tolerances import KERNEL
from proofs_check.ledger.claim import INSTANCES, SAMPLES, Claim, Control, Effort, Evidence, Kind, Nature, Verdict
from proofs_check.ledger.mathematical import exact, mathematical, sampled

SECTION = "RazorAttention, Section 3.3"
K, REPEATS = 12, 4
POSITIONS = ("rope", "alibi", "none")


def _seeds(quick: int, full: int):
    return lambda effort: [{"seed": seed} for seed in range(quick if effort is Effort.QUICK else full)]


def _long_prompts(effort: Effort):
    names = ("kv-shift", "vanilla-1", "vanilla-2")
    return [{"name": name, "k": k} for name in names for k in ((250,) if effort is Effort.QUICK else (250, 2500))]


def _matrices(model: Any, tokens: np.ndarray) -> np.ndarray:
    """The attention of every layer, (layers, heads, length, length)."""
    import torch

    hidden, found = model.embed(torch.from_numpy(tokens)[None]), []
    with torch.no_grad():
        for block in model.blocks:
            found.append(block.attention.weights(block.attention_norm(hidden))[0])
            hidden = block(hidden)
    return torch.stack(found).numpy()


def _looked_up(weights: np.ndarray, tokens: np.ndarray, after: int) -> np.ndarray:
    """Mean attention to the tokens `after` places after an earlier copy, found by comparing tokens."""
    place = np.arange(len(tokens))
    targets = (tokens[:, None] == tokens) & (place < place[:, None])
    targets = np.roll(targets, after, axis=1) & (place <= place[:, None])
    return (weights * targets).sum((-2, -1)) / (len(tokens) - K)


def against_matrices(seed: int, copy: int = 0, successor: int = 1) -> Margin:
    """Echo and induction by blocks against sums over whole matrices, on a random model with mixed keys and GQA."""
    import torch

    from dynamics.heads.scores import head_scores, repeated_prompt
    from dynamics.model.config import ModelConfig
    from dynamics.model.decoder import InductionModel

    config = ModelConfig(vocab=16, width=24, n_heads=4, n_kv_heads=2, n_layers=2, position=POSITIONS[seed % 3])
    model = InductionModel(config, torch.Generator().manual_seed(seed)).double()
    found = head_scores(model, k=K, repeats=REPEATS, seed=seed)
    tokens = repeated_prompt(16, K, REPEATS, seed)
    weights = _matrices(model, tokens)
    expected = [_looked_up(weights, tokens, after) for after in (copy, successor)]
    return close([found.echo, found.induction], expected, KERNEL.times(np.max(expected)))


def equal_copies(repeats: int, k: int, own: bool = True) -> Margin:
    """The echo score of a head that weighs the token (or not) and all its copies alike: 1 - (H_R - 1)/(R - 1)."""
    queries = [Fraction(t // k, t // k + own) for t in range(k, repeats * k)]
    harmonic = sum((Fraction(1, n) for n in range(2, repeats + 1)), Fraction(0))
    return same(1 - harmonic / (repeats - 1), sum(queries, Fraction(0)) / len(queries))


@lru_cache(maxsize=64)
def _known(seed: int) -> tuple[Any, Any]:
    from dynamics.heads.scores import head_scores
    from dynamics.model.made.known_heads import random_known_model

    known = random_known_model(seed, vocab=16, length=REPEATS * K)
    return known, head_scores(known.model, k=K, repeats=REPEATS, seed=seed)


def _named(scores: np.ndarray, heads: np.ndarray) -> Margin:
    """The scores above one half are those of these heads."""
    pairs = zip(scores.flat, heads.flat, strict=True)
    return worst([less(0.5, score) if is_one else less(score, 0.5) for score, is_one in pairs])


def planted(seed: int, mistake: str = "") -> Margin:
    """Every planted head is above one half in its score and every other head below."""
    known, scores = _known(seed)
    if mistake == "copy for successor":
        scores = scores._replace(induction=scores.echo)
    if mistake == "first layer only":
        scores = scores._make(np.where(np.arange(len(score))[:, None] == 0, score, 0.0) for score in scores)
    return worst([_named(getattr(scores, kind), getattr(known, kind)) for kind in ("echo", "induction", "previous")])


def needs_no_echo(seed: int, silenced: str = "echo") -> Margin:
    """With the echo heads' queries and outputs at zero no head echoes, and the planted induction heads still do."""
    import torch

    from dynamics.heads.scores import head_scores
    from dynamics.model.made.known_heads import known_model

    known = known_model(seed, n_layers=3, n_kv_heads=2, length=REPEATS * K, position=("rope", "alibi")[seed % 2])
    with torch.no_grad():
        for layer, head in np.argwhere(getattr(known, silenced)):
            attention = known.model.blocks[layer].attention
            part = slice(head * attention.head_dim, (head + 1) * attention.head_dim)
            attention.q_proj.weight[part] = 0.0
            attention.o_proj.weight[:, part] = 0.0
    scores = head_scores(known.model, k=K, repeats=REPEATS)
    induction = at_most(0.95, float(scores.induction[known.induction].min()))
    return induction if silenced != "echo" else worst([induction, less(float(scores.echo.max()), 0.5)])


@lru_cache(maxsize=8)
def _shipped(name: str) -> tuple[Any, np.ndarray]:
    """A shipped model, and which of its heads attend to the answer of its task."""
    from dynamics.heads.named import inspect
    from dynamics.training.checkpoint import shipped
    from dynamics.training.evaluation import heldout_batch

    model = shipped(name).model
    reports = inspect(model, heldout_batch(0, 128, model.config.vocab, 512))
    return model, np.array([report.attends for report in reports])


def _induction(name: str, k: int) -> np.ndarray:
    from dynamics.heads.scores import head_scores

    return head_scores(_shipped(name)[0], k=k, repeats=REPEATS).induction.ravel()


def shipped_names(name: str, k: int) -> Margin:
    """The heads whose induction score exceeds one half are those that attend to the answer of the induction task."""
    return _named(_induction(name, k), _shipped(name)[1])


def no_name(name: str, k: int) -> Margin:
    """No head's induction score exceeds one half."""
    return less(float(_induction(name, k).max()), 0.5)


CLAIMS: tuple[Claim, ...] = (
    mathematical(
        "razor.heads.scores",
        SECTION + " (the definitions are not in the text at hand)",
        "On K distinct random tokens repeated R times a head's echo score is its mean attention to all earlier copies "
        "of the current token, its induction score that to the tokens right after them, over all queries but the "
        "first K; both come from blocks of rows, without a whole matrix.",
        sampled(
            "random models with RoPE, ALiBi and no positions, mixed keys, GQA: blocks of rows against whole matrices",
            against_matrices,
            _seeds(12, 120),
            Control("the token after for the copy", lambda seed: against_matrices(seed, copy=1)),
            Control("the copy for the token after", lambda seed: against_matrices(seed, successor=0)),
        ),
        exact(
            "a head that weighs the token and its copies alike has echo 1 - (1/2 + .. + 1/R)/(R-1), 23/36 at R = 4",
            equal_copies,
            tuple({"repeats": r, "k": k} for r in range(2, 9) for k in (3, 10, 50)),
            Control("the token left out", lambda repeats, k: equal_copies(repeats, k, own=False)),
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
            planted,
            _seeds(8, 50),
            Control("copies for the tokens after", lambda seed: planted(seed, "copy for successor")),
            Control("only the first layer's heads", lambda seed: planted(seed, "first layer only")),
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
            needs_no_echo,
            _seeds(6, 40),
            Control("the previous-token head silenced", lambda seed: needs_no_echo(seed, silenced="previous")),
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
                shipped_names,
                tuple({"name": name, "k": k} for name in ("kv-shift", "vanilla-1", "vanilla-2") for k in (5, 10, 15)),
                (Control("250 tokens four times", None, ({"name": "kv-shift", "k": 250},)),),
            ),
            Evidence(
                Kind.TRAINED,
                "the same models on 250 distinct tokens, four times (full: 2500 too)",
                no_name,
                _long_prompts,
                (Control("10 tokens", None, ({"name": "kv-shift", "k": 10},)),),
            ),
        ),
        coverage=SAMPLES,
        is_correction=True,
    ),
)
