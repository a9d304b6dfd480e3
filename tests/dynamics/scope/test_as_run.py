"""Every family as transformers runs it, in float32 and bfloat16: its own attentions never exceed what scope says."""

import re
from pathlib import Path

import pytest
import torch

from dynamics.scope.rounded import rounding_of_weights
from dynamics.weights.families import READ
from tests.dynamics.scope import as_run
from tests.dynamics.weights.test_reader import CASES, hf  # noqa: F401 (hf is a fixture)

TOLD = {
    "bloom": "bloom", "cohere": "cohere", "cohere-norms": "cohere", "falcon": "falcon", "falcon-alibi": "falcon",
    "falcon-alibi-grouped": "falcon", "gemma": "gemma", "gemma2": "gemma2", "gemma3": "gemma3_text",
    "gpt-neox": "gpt_neox", "gpt-oss": "gpt_oss", "gpt2": "gpt2", "gpt2-scales": "gpt2", "granite": "granite",
    "llama-biases": "llama", "mistral": "mistral", "mixtral": "mixtral", "mpt": "mpt", "olmo": "olmo",
    "olmo-clip": "olmo", "olmo2": "olmo2", "opt": "opt", "phi3": "phi3", "qwen2": "qwen2", "qwen3": "qwen3",
    "qwen3-moe": "qwen3_moe", "smollm3": "smollm3", "stablelm": "stablelm", "stablelm-norms": "stablelm",
}  # fmt: skip
PAGE = Path(__file__).parents[3] / "docs" / "families.md"


def checked(log, seen, run, arithmetic):
    """The spread of the logits of each head, (heads,), after all that is claimed of it and of weights is checked."""
    off = rounding_of_weights(arithmetic, as_run.LENGTH)
    found = as_run.spread_of(log, seen).detach()
    assert (found <= run.spread + 2 * torch.tensor(off).log()).all()
    factors = torch.exp(run.biases[:, None, :] - run.biases[:, :, None]).masked_fill(~seen, 0.0)
    weights = (log + run.biases[:, None]).exp().detach()
    for side in (1, -1):  # no larger than against the others at their lowest, no less than against their highest
        rest = torch.exp(-side * run.spread)[:, None, None] * (factors.sum(-1, keepdim=True) - factors)
        ends = factors / (factors + rest)
        if run.sinks is not None and side == 1:
            ends = factors / (factors + rest + torch.exp(run.sinks - run.largest)[:, None, None])
        over = weights <= ends * off + 1e-38 if side == 1 else weights * off >= ends - 1e-38
        assert run.sinks is not None and side == -1 or over[seen.expand_as(over)].all()
    return found


@pytest.fixture(scope="module")
def looseness():
    """By case: the largest share of the exact range that was reached in float32, and of the range as run, its own."""
    return {}


def measured(case, hf, folder):  # noqa: F811
    """What was reached of the exact range, (heads,) of all layers, in float32; and the ranges as run over it."""
    both = as_run.models(hf, *CASES[case], folder)
    runs = {form: as_run.bounds(folder, form) for form in ("float32", "bfloat16")}
    most = {form: [torch.zeros(len(run.exact), dtype=torch.float64) for run in runs[form]] for form in runs}
    for seed in (0, 1):
        for states in as_run.searched(both, runs["float32"], seed):
            for form, model in both._asdict().items():
                with torch.no_grad():
                    told = as_run.logs(model, states, runs[form])
                for layer, (log, seen) in enumerate(told):
                    found = checked(log, seen, runs[form][layer], form)
                    assert form == "bfloat16" or (found <= runs[form][layer].exact).all()
                    most[form][layer] = most[form][layer].maximum(found)
    exact, spread = (torch.cat([getattr(run, name) for run in runs["bfloat16"]]) for name in ("exact", "spread"))
    return torch.cat(most["float32"]) / exact, spread / torch.cat(most["bfloat16"]), spread / exact


@pytest.mark.parametrize("case", TOLD)
def test_no_weight_exceeds_what_is_said_of_it(case, hf, tmp_path):  # noqa: F811
    reached, loose, grown = measured(case, hf, tmp_path)
    print(f"{case}: {reached.max():.2f} {loose.min():.2f} {loose.median():.2f} {grown.median():.2f}")
