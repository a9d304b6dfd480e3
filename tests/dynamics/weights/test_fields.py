"""Configs with keys changed at random: what is read is what transformers runs, or is refused in one line."""

import json
import random
import re

import numpy as np
import pytest
import torch

from dynamics.hf.cache import razor
from dynamics.scope.heads import layer_scopes, settings
from dynamics.weights.reader import open_checkpoint
from tests.dynamics.folders import ROOT
from tests.dynamics.hf.test_cache import GREEDY, generate, plan_for
from tests.dynamics.weights import fields
from tests.dynamics.weights.test_reader import MPT

EPS = 0.2


def drawn(rng, base):
    """A config with one to four keys changed, of windows, of rotary parameters, or any."""
    data = dict(base.data)
    rotary = [config for *_, config in fields.rotary_changes(base)] if "rope_parameters" in base.whole else []
    for _ in range(rng.randint(1, 4)):
        if rotary and rng.random() < 0.3:
            other = rng.choice(rotary)
            data = {key: value for key, value in data.items() if key not in ("rope_parameters", "rope_scaling")}
            data |= {key: other[key] for key in ("rope_parameters", "rope_scaling") if key in other}
            continue
        key = rng.choice(sorted(fields.LISTS) if rng.random() < 0.6 else base.keys)
        some = fields.values(key, base.whole.get(key))
        if some and rng.random() < 0.9:
            data[key] = rng.choice(some)
        else:
            data.pop(key, None)
    return data


def whole(hf, folder, data):
    """How far logits of steps with a Razor cache that keeps all are from the model's own; 0 where it has none."""
    model = fields.built(hf, folder, data)
    ids, how = torch.arange(6)[None] % model.config.vocab_size, GREEDY | {"pad_token_id": 0, "eos_token_id": None}
    how |= {"attention_mask": torch.ones_like(ids)}
    try:
        own = generate(model, ids, how)
    except RuntimeError:  # of a window in the masks and not in the cache
        return 0.0
    with razor(model, plan_for(model, buffer=16)) as cache:
        found = generate(model, ids, how, past_key_values=cache)
    return max(float((a - b).abs().max() / a.abs().max()) for a, b in zip(own.logits, found.logits, strict=True))


def beyond(folder, records):
    """The largest weight at or beyond the scope of its head."""
    checkpoint = open_checkpoint(folder)
    asked, most = settings(checkpoint, EPS, EPS, context=fields.LENGTH), 0.0
    distance = np.arange(fields.LENGTH)[:, None] - np.arange(fields.LENGTH)
    for layer, record in enumerate(records):
        for head in layer_scopes(checkpoint, layer, asked):
            far = record["weights"][head.head].double().numpy()[(distance >= head.scope) | (distance < 0)]
            most = max(most, far.max(initial=0.0))
    return most


YARN = {"type": "yarn", "factor": 4.0, "attention_factor": 0.5, "original_max_position_embeddings": 32}
LONG = {"factor": 4.0, "partial_rotary_factor": 0.5, "short_factor": [1.0], "long_factor": [2.0],
        "original_max_position_embeddings": 32}  # fmt: skip
QWEN = {"sliding_window": 4, "use_sliding_window": True}
TYPES = [fields.FULL, fields.SLIDING]
LONGROPE = {"rope_type": "longrope", "original_max_position_embeddings": 512, "short_factor": [1.0, 1.5],
            "long_factor": [2.0, 3.0]}  # fmt: skip
THREE = {"short_factor": [1.0] * 3, "long_factor": [2.0] * 3, "factor": 4.0}
EIGHT = {"num_attention_heads": 3, "num_key_value_heads": 3}  # components a head, of which two are turned
AS_RUN = [
    ("llama, bare", {"rope_scaling": YARN | {"attention_factor": None, "mscale": 0.8, "mscale_all_dim": 0.5}}),
    ("llama, bare", {"rope_scaling": LONGROPE, "max_position_embeddings": 2048}),
    *(("gpt-neox, bare", EIGHT | {"rope_scaling": YARN | {"attention_factor": factor}}) for factor in (0.5, 1.5)),
    ("gpt-neox, bare", {"rotary_pct": 1.0, "rope_scaling": YARN}),
    ("gpt-neox", {"attention_bias": False}),
    ("gpt-oss", {"attention_bias": False}),
    ("opt", {"enable_bias": False}),
    ("stablelm, bare", EIGHT),
    ("gemma2, bare", {"sliding_window_pattern": 3}),
    ("gpt-oss, bare", {"sliding_window_pattern": 1}),
    ("mistral", {"layer_types": TYPES}),
    ("mistral", {"layer_types": [fields.FULL] * 2}),
    ("smollm3", {"layer_types": TYPES, "sliding_window": 3, "use_sliding_window": False}),
    *(("smollm3, bare", {"sliding_window": 3, "use_sliding_window": asked}) for asked in (True, False)),
    *(("gemma2, bare", {"attn_logit_softcapping": cap}) for cap in (None, "left out")),
    ("gemma3, bare", {"sliding_window_pattern": 2}),
    ("mixtral, bare", {"layer_types": TYPES, "use_sliding_window": False}),
    ("gemma3, bare", {"layer_types": TYPES, "rope_scaling": {"rope_type": "yarn"} | YARN}),
    ("gemma3, bare", {"layer_types": TYPES, "rope_scaling": YARN}),
    ("gemma3, bare", {"layer_types": TYPES, "original_max_position_embeddings": 16, "rope_scaling": LONGROPE | THREE}),
    *(("phi3, bare", {"rope_scaling": LONG | {"type": name}}) for name in ("longrope", "su", "yarn")),
    *(("qwen2, bare", QWEN | {"max_window_layers": number}) for number in (0, 1, 2)),
    ("qwen2, bare", QWEN | {"layer_types": TYPES}),
    ("qwen2, bare", QWEN | {"use_sliding_window": False, "max_window_layers": 0}),
    ("stablelm", {"rotary_pct": 1.0}),
    ("gpt-neox, bare", {"rotary_pct": 0.5, "partial_rotary_factor": 1.0}),
]


@pytest.mark.parametrize(("case", "change"), AS_RUN, ids=str)
def test_keys_that_other_families_read_otherwise_are_read_as_this_class_does(case, change, hf, tmp_path):
    base = next(base for base in fields.bases(hf) if base.case == case)
    data = {key: value for key, value in (base.data | change).items() if value != "left out"}
    found = fields.outcome(hf, tmp_path, data)
    ministral = case == "mistral"  # what transformers makes of layer_types there; an attention of ours does not
    assert (found.status, found.replaced == "equal") == ("read", not ministral), found
    assert beyond(tmp_path, found.records) <= EPS


def test_every_case_is_read_as_it_is_run_also_without_what_its_class_works_out(hf, tmp_path):
    for base in fields.bases(hf):
        folder = tmp_path / base.case
        folder.mkdir()
        found = fields.outcome(hf, folder, base.data)
        status = "refused" if base.case == "mpt, bare" else "read"
        assert (found.status, found.replaced) == (status, "equal"), (base.case, found)


def test_every_factor_of_rotary_parameters_is_read_as_it_is_run_under_both_names(hf, tmp_path):
    base, read = next(base for base in fields.bases(hf) if base.case == "llama, bare"), set()
    for number, (key, _, data) in enumerate(fields.rotary_changes(base)):
        if key.endswith((".factor", ".attention_factor", ".mscale")):
            folder = tmp_path / str(number)
            folder.mkdir()
            found, rope = fields.outcome(hf, folder, data), data.get("rope_parameters") or data["rope_scaling"]
            assert "differs" not in (found.status, found.replaced), data
            read |= {rope.get("rope_type", rope.get("type"))} if found.status == "read" else set()
    assert read == fields.ROPES.keys() - {"proportional"}


def test_mpt_slopes_follow_alibi_bias_max_and_alibi(hf, tmp_path):
    found = []
    for alibi in (True, False):
        attention = {"alibi": alibi, "alibi_bias_max": 16, "clip_qkv": 2.0}
        fields.built(hf, tmp_path, MPT | {"model_type": "mpt", "attn_config": attention})
        found.append(open_checkpoint(tmp_path).architecture)
    built = hf.models.mpt.modeling_mpt.build_mpt_alibi_tensor(6, 2, alibi_bias_max=16)
    np.testing.assert_allclose(found[0].slopes, -built[:, 0, 0], rtol=1e-6)
    assert found[0].clip == 2.0 and (found[1].position, found[1].slopes) == ("learned", None)


def test_the_table_was_made_with_the_transformers_that_is_pinned(hf):
    told = json.loads(fields.TABLE.read_text())
    assert fields.page(told["families"]) in (ROOT / "docs" / "families.md").read_text()
    if hf.__version__ != told["marks"]["transformers"]:
        pytest.skip(f"the table is of transformers {told['marks']['transformers']}")
    assert fields.marks(hf) == told["marks"]


@pytest.mark.deep
def test_the_table_says_what_every_key_does(hf):
    assert fields.table(hf) == json.loads(fields.TABLE.read_text())["families"]


@pytest.mark.parametrize("count", [60, pytest.param(3000, marks=pytest.mark.deep)])
def test_configs_drawn_at_random_are_read_as_they_are_run_or_refused(count, hf, tmp_path):
    rng, bases, tally = random.Random(count), list(fields.bases(hf)), {}
    for number in range(count):
        base = rng.choice(bases)
        data, folder = drawn(rng, base), tmp_path / str(number)
        folder.mkdir()
        found = fields.outcome(hf, folder, data)
        tally[found.status] = tally.get(found.status, 0) + 1
        assert "differs" not in (found.status, found.replaced), (base.case, data)
        assert found.status != "read" or beyond(folder, found.records) <= EPS, (base.case, data)
        try:
            steps = found.replaced == "equal" and (count > 60 or number % 4 == 0)
            assert not steps or whole(hf, folder, data) < 1e-3, (base.case, data)
        except ValueError as error:
            assert "\n" not in str(error)
        if found.status == "refused":
            assert re.search(rf"^{re.escape(str(folder))}\S*: .+", found.told) and "\n" not in found.told
    assert tally["read"] > count / 3
