"""The table of decoders: that each line has a case, images, heads of other tasks, families that are not known."""

import json

import numpy as np
import pytest

from dynamics.weights.kinds import KINDS
from dynamics.weights.reader import open_checkpoint
from tests.dynamics.refusal import refused
from tests.dynamics.weights import checkpoint_files as files
from tests.dynamics.weights.checkpoint_files import unreadable
from tests.dynamics.weights.test_reader import CASES, random_model


def test_every_line_has_a_case(hf):
    names = {getattr(hf, f"{name}Config").model_type for name, _ in CASES.values()}
    assert names | {"gemma3"} == {*KINDS, "mpt"}  # the text of Gemma 3 beside images: below


def test_the_text_of_a_gemma_that_sees_images_is_read_with_its_classs_defaults(hf, tmp_path):
    _, text = CASES["gemma3"]
    seen = {"hidden_size": 8, "intermediate_size": 8, "num_hidden_layers": 1, "num_attention_heads": 2}
    config = {"text_config": text, "vision_config": seen | {"image_size": 28, "patch_size": 14}}
    model = random_model(hf, "Gemma3", config, "ForConditionalGeneration")
    model.save_pretrained(tmp_path)
    checkpoint, layers = open_checkpoint(tmp_path), model.model.language_model.layers
    expected = layers[1].self_attn.k_proj.weight.detach().numpy().reshape(3, 6, 24)
    np.testing.assert_array_equal(checkpoint.projection(1, "key", 0, 3), expected)
    assert [checkpoint.small(layer).window for layer in (0, 1)] == [None, 4]
    assert checkpoint.architecture.scale == pytest.approx(layers[0].self_attn.scaling, rel=1e-15)
    plain = hf.Gemma3TextConfig()
    assert all(getattr(plain, name) == value for name, value in KINDS["gemma3"].absent.items())
    data = json.loads((tmp_path / "config.json").read_text())
    for name in ("query_pre_attn_scalar", "text_config"):
        (data if name in data else data["text_config"]).pop(name)
        files.write_config(tmp_path, data)
        if name in KINDS["gemma3"].absent:
            assert open_checkpoint(tmp_path).architecture.scale == 256**-0.5
    refused("text_config is missing", open_checkpoint, tmp_path)


TASKS = ["ForSequenceClassification", "ForTokenClassification", "ForQuestionAnswering", "Model"]


@pytest.mark.parametrize("head", TASKS)
@pytest.mark.parametrize("case", ["llama", "bloom", "mpt", "gpt2", "gpt-neox", "opt"])
def test_the_head_of_another_task_is_let_stand(case, head, hf, tmp_path):
    name, config = CASES[case]
    if not hasattr(hf, name + head):
        pytest.skip("transformers has no such class")
    model = random_model(hf, name, config | {"pad_token_id": None}, head)
    model.save_pretrained(tmp_path)
    checkpoint = open_checkpoint(tmp_path)
    first = checkpoint.projection(1, "query", 0, 1)
    assert first.shape[2] == 24 and any(name.startswith(("score", "classifier", "qa_outputs")) for name in
                                        checkpoint.names) == (head != "Model")  # fmt: skip


def test_a_family_that_is_not_known_is_told_what_is_missing(tmp_path, monkeypatch):
    config = {"model_type": "starcoder9", "hidden_size": 8, "n_layer": 1, "num_attention_heads": 4}
    shapes = {f"transformer.h.0.attn.{name}": (8, 8) for name in ("qkv.weight", "rel_bias", "c_proj.weight")}
    files.write(tmp_path, config, files.random_tensors(shapes))
    unreadable(tmp_path, monkeypatch, "model_type 'starcoder9'", "its config lacks num_hidden_layers",
            "usual q_proj.weight, k_proj.weight, v_proj.weight are missing",
            "not understood: transformer.h.0.attn.c_proj.weight, transformer.h.0.attn.qkv.weight, ")  # fmt: skip


def test_a_family_of_the_usual_names_is_told_that_they_are_not_enough(tmp_path, monkeypatch):
    config = files.LLAMA | {"model_type": "llama9"}
    files.write(tmp_path, config, files.random_tensors(files.llama_shapes(config)))
    unreadable(tmp_path, monkeypatch, "model_type 'llama9'", "the usual names, what it computes from them is not known")
