"""The adapters in examples/conform: the workbench's own and transformers' pass all that they claim."""

from functools import cache
from pathlib import Path

import pytest

from proofs_check.conform import CHECKS, Outcome, conform, load
from tests.dynamics.hf import models

EXAMPLES = Path(__file__).parents[3] / "examples/conform"
OWN = ("workbench", "workbench_model")
TRANSFORMERS = ("attention", "bloom", "gptj", "model", "mpt", "rotary")
HERE = (*OWN, *(f"transformers_{name}" for name in TRANSFORMERS))
REFUSED = {
    "attention.together": "workbench",  # a cached token has no document
    "alibi_attention.together": "workbench",
    "sink_attention.together": "workbench",
    "decoded.ragged": "workbench_model",
    "decoded.ragged_chunks": "workbench_model",
    "rope.bases": "transformers_gptj",
    "rope.together": "transformers_gptj",
    "shift.widest": "workbench",  # four weights at most
    "shifted_keys.widest": "workbench",
}
LENGTH = {"mpt": {"max_seq_len": 512}, "gpt2": {"n_positions": 512}}  # the others know no longest sequence


def passed(of, seed=0):
    """The names that passed; none deviates."""
    results = conform(of, seed=seed)
    assert [r for r in results if r.deviates] == []
    return {r.check.name for r in results if r.outcome is Outcome.PASSED}, results


@cache
def passed_here(name, seed=0):
    return passed(load(str(EXAMPLES / f"{name}.py")), seed)


@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.deep), pytest.param(2, marks=pytest.mark.deep)])
@pytest.mark.parametrize("name", HERE)
def test_own_and_transformers_implementations_pass_all_that_they_claim(name, seed):
    names, results = passed_here(name, seed)
    assert names
    refused = {r.check.name for r in results if r.outcome is Outcome.REFUSED}
    assert refused == {check for check, by in REFUSED.items() if by == name}


def test_own_adapters_claim_every_subject_and_all_but_a_few_checks():
    found = set().union(*(passed_here(name)[0] for name in OWN))
    assert {check.name for check in CHECKS} - found == {
        "alibi_bias.left_padding", "rope.partial", "decoded.ragged", "decoded.ragged_chunks", "shift.widest",
        "shifted_keys.widest", "attention.together", "alibi_attention.together", "sink_attention.together",
    }  # fmt: skip


def test_torch_itself_counts_queries_from_the_first_key():
    results = conform(load(str(EXAMPLES / "torch_attention.py")))
    assert {r.check.name: r.outcome for r in results if r.deviates} == dict.fromkeys(
        ("attention.decode", "attention.chunks"), Outcome.CONVENTION
    )


DEEP = [pytest.param(family, marks=pytest.mark.deep) for family in ("mpt", "qwen3", "gpt_neox", "gpt_oss")]


@pytest.mark.parametrize("family", ["bloom", "gpt2", *DEEP])
def test_models_of_transformers_decode_in_batches_of_any_prompts_what_they_read_whole(family):
    import torch

    of = load(str(EXAMPLES / "transformers_model.py"))
    built = models.model(family, dtype=torch.float32, **LENGTH.get(family, {}))
    of.module.model, of.vocab = (lambda: built), 64
    names, _ = passed(of)
    assert names == {check.name for check in CHECKS if check.subject in ("logits", "decoded")}


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.py")), ids=lambda path: path.stem)
def test_every_adapter_says_in_one_line_what_it_is_of_and_is_loaded_where_its_package_is(path):
    assert path.read_text("utf-8").startswith('"""') and path.read_text("utf-8").splitlines()[0].endswith('."""')
    if path.stem in HERE:
        assert load(str(path)).name.endswith(path.name)
