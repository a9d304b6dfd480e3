"""Families whose scope is not that of a slope or a range alone: rounded biases, sinks, values that are not normed."""

import json
import math

import pytest
import torch

from dynamics.scope.heads import Reach, layer_scopes, settings
from dynamics.scope.ranges import layer_ranges
from dynamics.scope.rounded import rounded_scopes
from dynamics.weights.reader import open_checkpoint
from tests.dynamics.refusal import refused
from tests.dynamics.scope.cases import rounded
from tests.dynamics.scope.test_rounded import EPS, beyond
from tests.dynamics.weights import checkpoint_files as files
from tests.dynamics.weights.test_reader import CASES, FALCON, LLAMA, SHORT_YARN, hf, random_model  # noqa: F401
from theory import alibi

LENGTH = 1500
HIGH = {"num_attention_heads": 12, "hidden_size": 24, "num_hidden_layers": 1, "multi_query": False, "alibi": True}


def saved(hf, folder, name, config, size, dtype=torch.float32):  # noqa: F811
    model = random_model(hf, name, config, size=size).to(dtype)
    model.save_pretrained(folder)
    return model


def attention_of(model, length, seed=0):
    tokens = torch.randint(11, (1, length), generator=torch.Generator().manual_seed(seed))
    with torch.no_grad():
        return model(tokens, output_attentions=True).attentions


def once(model, length):
    """Falcon's weights as its SDPA computes them, its biases added once: (heads, length, length)."""
    seen = []
    block = model.transformer.h[0].self_attention
    handle = block.query_key_value.register_forward_hook(lambda _, x, y: seen.append(y[0]))
    weights = attention_of(model, length)[0]
    handle.remove()
    n, d = block.num_heads, block.head_dim
    query, key, _ = seen[0].float().view(length, n, 3, d).unbind(2)
    table = files.rounded_biases(open_checkpoint(model.name_or_path).architecture, length)
    scores = torch.einsum("thd,shd->hts", query, key) / math.sqrt(d) + table[:, None].float()
    future = torch.ones(length, length, dtype=torch.bool).triu(1)
    return scores.masked_fill(future, -torch.inf).softmax(-1), weights[0].float()


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_no_weight_of_falcon_lies_beyond_its_scope_but_beyond_that_of_its_slopes(dtype, hf, tmp_path):  # noqa: F811
    model = saved(hf, tmp_path, "Falcon", FALCON | HIGH, 0.02, dtype)
    model.name_or_path = str(tmp_path)
    checkpoint = open_checkpoint(tmp_path)
    heads, run = rounded(rounded_scopes, checkpoint, "bfloat16", EPS, context=LENGTH)
    scopes = [head.scope for head in heads]
    if dtype is torch.bfloat16:
        scopes = run
        assert all(far > head.scope for far, head in zip(scopes, heads, strict=True))
    plain = [alibi.scope(head.slope, head.logit_range, EPS) for head in heads]
    told, most = zip(*(beyond(weights, scopes, plain) for weights in once(model, LENGTH)), strict=True)
    assert sum(told) >= 8
    assert max(most) > 1.5  # a bound from the slopes alone is exceeded, even in float32


def test_the_window_and_the_dropped_mass_of_falcon_hold(hf, tmp_path):  # noqa: F811
    model = saved(hf, tmp_path, "Falcon", FALCON | HIGH, 0.02)
    model.name_or_path = str(tmp_path)
    checkpoint = open_checkpoint(tmp_path)
    heads = layer_scopes(checkpoint, 0, settings(checkpoint, EPS, 0.01, context=600))
    local = [head for head in heads if head.reach is Reach.LOCAL]
    assert len(local) >= 4 and min(head.budget for head in local) < 60
    for weights in once(model, 600):
        for head in heads:
            old = weights[head.head].tril(-head.budget).sum(-1)
            assert float(old.max()) <= head.dropped_mass * (1 + 1e-5)
            assert head.reach is not Reach.LOCAL or head.dropped_mass <= 0.01


def test_the_command_says_for_which_contexts_rounded_biases_were_bounded(hf, tmp_path, capsys):  # noqa: F811
    from scripts.commands import scope
    from scripts.commands.cli import run

    saved(hf, tmp_path, "Falcon", FALCON | HIGH, 0.02)
    assert run(scope.main, [str(tmp_path), "--eps", "0.01", "--context", "600"]) == 0
    assert "scopes and windows hold up to 600 tokens" in capsys.readouterr().out


def test_a_sink_bounds_weights_and_mass_where_the_range_says_nothing(hf, tmp_path):  # noqa: F811
    shape = LLAMA | SHORT_YARN | {"head_dim": 6, "num_local_experts": 4, "layer_types": ["full_attention"] * 2}
    model = random_model(hf, "GptOss", shape)
    with torch.no_grad():
        for layer in model.model.layers:
            layer.self_attn.sinks.copy_(torch.linspace(-2.0, 400.0, 6))
    model.save_pretrained(tmp_path)
    checkpoint = open_checkpoint(tmp_path)
    heads, run = rounded(rounded_scopes, checkpoint, "bfloat16", 0.01, 1, context=64)
    weights = attention_of(model, 64)[1][0]
    for head in heads:
        assert head.sink == pytest.approx(-2.0 + 80.4 * head.head, rel=1e-6)
        assert float(weights[head.head].tril(-head.budget).sum(-1).max()) <= head.dropped_mass + 1e-12
        for n in range(min(64, math.ceil(head.scope)), 64):
            assert float(weights[head.head].diagonal(-n).max()) <= 0.01
    assert heads[5].scope == 0 and heads[0].scope > 64
    assert all(far >= head.scope for far, head in zip(run, heads, strict=True)) and run[5] == 0


def test_what_is_not_normed_is_bounded_by_the_gains_and_nothing_of_it_is_dropped(hf, tmp_path, capsys):  # noqa: F811
    from scripts.commands import scope
    from scripts.commands.cli import run

    saved(hf, tmp_path / "model", "Olmo2", CASES["olmo2"][1], 1.0)
    out = tmp_path / "scope.json"
    asked = [str(tmp_path / "model"), "--eps", "0.01", "--context", "64", "--arithmetic", "bfloat16"]
    assert run(scope.main, [*asked, "--json", str(out)]) == 0
    assert "12 ranges D: a bound from the gains" in (told := capsys.readouterr().out)
    assert "of the others rounding leaves nothing to say" in told
    document = json.loads(out.read_text())
    assert document["architecture"]["norm"] == "none" and document["totals"]["output_error"] == 0
    ranges = list(layer_ranges(open_checkpoint(tmp_path / "model"), 0))
    assert all(math.isinf(head.value_diameter) for head in ranges)


def test_quantised_experts_leave_the_attention_of_gpt_oss_readable(hf, tmp_path):  # noqa: F811
    model = random_model(hf, *CASES["gpt-oss"])
    model.save_pretrained(tmp_path)
    config = json.loads((tmp_path / "config.json").read_text())
    for method, read in (("mxfp4", True), ("gptq", False)):
        (tmp_path / "config.json").write_text(json.dumps(config | {"quantization_config": {"quant_method": method}}))
        if read:
            assert open_checkpoint(tmp_path).small(1).sinks.shape == (6,)
        else:
            refused("quantised", open_checkpoint, tmp_path)
