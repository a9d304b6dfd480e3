"""The adapters in examples/conform of packages that are here come out as the board tells, and nowhere wrong."""

from pathlib import Path

import pytest

from proofs_check.conform import CHECKS, Outcome, claimed, conform, load
from scripts.pages import conform_page
from tests.dynamics.hf import models

EXAMPLES = conform_page.RESULTS.parent
BOARD = {Path(one["adapter"]).stem: one["results"] for one in conform_page.adapters()}
OWN = ("workbench", "workbench_model")
HERE = (*OWN, "torch_attention", *(f"transformers_{name}" for name in ("bloom", "gptj", "model", "mpt", "rotary")))
LENGTH = {"mpt": {"max_seq_len": 512}, "gpt2": {"n_positions": 512}}  # the others know no longest sequence


def deep(*given):
    return [pytest.param(one, marks=pytest.mark.deep) for one in given]


def outcomes(of, seed=0):
    """How every check came out that the adapter claims."""
    return {r.check.name: r.outcome.value for r in conform(of, seed=seed) if r.outcome is not Outcome.NOT_CLAIMED}


@pytest.mark.parametrize("seed", [0, *deep(1, 2)])
@pytest.mark.parametrize("name", [*HERE, *deep("transformers_attention")])
def test_own_and_transformers_implementations_come_out_as_the_board_tells_and_nowhere_wrong(name, seed):
    found = outcomes(load(str(EXAMPLES / f"{name}.py")), seed)
    assert found == {row["check"]: row["outcome"] for row in BOARD[name]}
    assert not {"failed", "raised"} & {*found.values()}


def test_own_adapters_claim_every_subject_and_all_but_two_checks():
    own = {check for name in OWN for check in claimed(load(str(EXAMPLES / f"{name}.py")))}
    assert {check.name for check in {*CHECKS} - own} == {"alibi_bias.left_padding", "rope.partial"}


@pytest.mark.deep
@pytest.mark.parametrize("family", ["bloom", "gpt2", "mpt", "qwen3", "gpt_neox", "gpt_oss"])
def test_models_of_transformers_decode_in_batches_of_any_prompts_what_they_read_whole(family):
    import torch

    of = load(str(EXAMPLES / "transformers_model.py"))
    built = models.model(family, dtype=torch.float32, **LENGTH.get(family, {}))
    of.module.model, of.vocab = (lambda: built), 64
    assert outcomes(of) == {check.name: "passed" for check in CHECKS if check.subject in ("logits", "decoded")}


def test_every_adapter_says_in_one_line_what_it_is_of():
    for path in EXAMPLES.glob("*.py"):
        first = path.read_text("utf-8").splitlines()[0]
        assert first.startswith('"""') and first.endswith('."""'), path
