"""Every line of the table of decoders against the class it describes: fields, defaults, norms, parameters by shape."""

import json
import re
from pathlib import Path

import numpy as np
import pytest
import torch

from dynamics.weights import described
from dynamics.weights.kinds import KINDS
from dynamics.weights.reader import open_checkpoint
from tests.dynamics.refusal import refused
from tests.dynamics.weights import checkpoint_files as files
from tests.dynamics.weights.checkpoint_files import unreadable
from tests.dynamics.weights.test_reader import CASES, random_model

MADE = {case: found for case, found in CASES.items() if found[0] != "Mpt"}


def disagreements(kind, model, data):
    """What of a line is not so in the class: one word a thing."""
    found, config, plain = [], model.config, type(model.config)()
    kind = kind._replace(**kind.settled(data)) if kind.settled else kind
    asked = kind.gains.asked if kind.gains else ""
    names = [kind.biases[0], *kind.needs, *kind.reads, asked]
    found += [f"field {name}" for name in names if name and not any(hasattr(config, x) for x in (name, f"_{name}"))]
    some = [names for usual, names in kind.fields.items() if usual != "max_position_embeddings"]  # which bounds nothing
    found += [f"fields {names}" for names in some if not any(hasattr(config, name) for name in names)]
    found += [f"fields {names}" for names in kind.given if not any(hasattr(config, n) for n in names.split("|"))]
    usual = {**kind.needs, kind.biases[0]: kind.biases[1], asked: False}
    usual.pop("", None)
    found += [f"default {name}" for name, value in usual.items() if bool(getattr(plain, name, value)) is not value]
    rope = getattr(plain, "rope_parameters", None) or {}
    if kind.position == "rope" and "partial_rotary_factor" in rope:
        found += ["share"] * (rope["partial_rotary_factor"] != (1.0 if kind.share is None else kind.share))
    return found + unread(kind, model, data) + norms(kind, model)


def unread(kind, model, data):
    """Parameters that are asked for and not there, and those of attention and its norm that nobody asks for."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(described.KINDS, data["model_type"], kind)
        layout = described.layout(data, Path("config.json"), f"{model.base_model_prefix}.")
    there = {name: tuple(tensor.shape) for name, tensor in model.state_dict().items()}
    found = [f"missing {name}" for name in layout.required.keys() - there.keys()]
    shapes = {name: shape for name, shape in layout.required.items() if shape is not None and name in there}
    found += [f"shape {name}" for name, shape in shapes.items() if there[name] != shape]
    layers = [name for name in there.keys() - layout.required.keys() if not re.fullmatch(layout.others, name)]
    return found + [f"unread {name}" for name in layers]


def norms(kind, model):
    """The class of the norm and what it adds to its gain."""
    if not kind.norm:
        return []
    layer = model.base_model.get_submodule(kind.root + "0")
    norm = getattr(layer, kind.norm)
    found = ["norm"] * (("LayerNorm" in type(norm).__name__) != kind.layer_norm)
    with torch.no_grad():
        norm.weight.zero_()
        if kind.norm_bias:
            norm.bias.zero_()
        out = norm(torch.ones(2, norm.weight.shape[0]).cumsum(1))
    return found + ["offset"] * (bool(out.any()) != bool(kind.offset))


@pytest.mark.parametrize("case", MADE)
def test_a_line_says_what_its_class_does(case, hf, tmp_path):
    model = random_model(hf, *MADE[case])
    model.config.save_pretrained(tmp_path)
    data = json.loads((tmp_path / "config.json").read_text())
    assert disagreements(KINDS[data["model_type"]], model, data) == []


def test_every_line_has_a_case(hf):
    names = {getattr(hf, f"{name}Config").model_type for name, _ in MADE.values()}
    assert names | {"gemma3"} == set(KINDS)  # the text of Gemma 3 beside images: below


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
        (tmp_path / "config.json").write_text(json.dumps(data))
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
