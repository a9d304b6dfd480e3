"""ALiBi models in bfloat16: what rounding adds to a range, the exact scope exceeded, the rounded one never."""

import json
import math

import numpy as np
import pytest
import torch

from dynamics.scope import rounded
from dynamics.scope.heads import settings
from dynamics.scope.rounded import rounded_scopes
from dynamics.weights.reader import open_checkpoint
from tests.dynamics.refusal import refused
from tests.dynamics.scope import cases
from theory import alibi
from theory.alibi.rounded import UNITS, rounded_range

LENGTH, EPS = 2304, 1e-3  # at slope 1/2 neighbours from position 2048 on share a bias, sixteen by sixteen


@pytest.fixture(scope="module", params=["bloom", "mpt"])
def model(request, tmp_path_factory):
    """A layer with small projections, so that ranges are small and rounding is what counts."""
    import transformers

    transformers.logging.set_verbosity_error()
    sizes = ({"hidden_size": 32, "n_layer": 1, "n_head": 8} if request.param == "bloom"
             else {"d_model": 32, "n_layers": 1, "n_heads": 8, "max_seq_len": LENGTH})  # fmt: skip
    config = getattr(transformers, f"{request.param.capitalize()}Config")(vocab_size=64, **sizes)
    config._attn_implementation = "eager"
    built = transformers.AutoModelForCausalLM.from_config(config)
    draw = torch.Generator().manual_seed(1)
    with torch.no_grad():
        for weight in built.parameters():
            noise = torch.randn(weight.shape, generator=draw)
            weight.copy_(0.01 * noise if weight.ndim > 1 else weight + 0.1 * noise)
    built = built.to(torch.bfloat16).eval()
    folder = tmp_path_factory.mktemp(request.param)
    built.save_pretrained(folder)
    return request.param, built, folder


def beyond(weights, scopes, weaker):
    """Weights (heads, length, length) as computed: none above EPS lies beyond its scope. Returns how many scopes say
    so of some distance, and the largest weight over EPS beyond weaker scopes."""
    length, told, most = weights.shape[-1], 0, 0.0
    for of_head, scope, other in zip(weights, scopes, weaker, strict=True):
        largest = np.array([float(of_head.diagonal(-n).max()) for n in range(length)])
        far = largest[min(math.ceil(scope), length) :]
        assert (far <= EPS).all()
        told += len(far) > 0
        most = max(most, largest[min(math.ceil(other), length - 1) :].max() / EPS)
    return told, most


def test_no_weight_of_a_model_in_bfloat16_lies_beyond_the_rounded_scope(model):
    name, built, folder = model
    checkpoint = open_checkpoint(folder)
    heads, run = cases.rounded(rounded_scopes, checkpoint, "bfloat16", EPS, context=LENGTH)
    exact = [head.scope for head in heads]
    assert all(far > near for far, near in zip(run, exact, strict=True))
    tokens = torch.randint(64, (1, LENGTH), generator=torch.Generator().manual_seed(0))
    with torch.no_grad():
        told, most = beyond(built(tokens, output_attentions=True).attentions[0][0], run, exact)
    assert told >= 4  # of the steeper heads at least it says something
    assert (most > 20) == (name == "bloom")  # whose implementation breaks what holds in exact arithmetic


@pytest.mark.parametrize("unit", UNITS.values())
def test_the_range_covers_what_rounding_does(unit):
    """Biases and logits rounded by the definition, at random and with both errors at their worst."""
    rng = np.random.default_rng(0)

    def rounded(x):
        scale = 2.0 ** np.floor(np.log2(np.maximum(np.abs(x), 1e-300))) * 2 * unit
        return np.round(x / scale) * scale

    for slope, count in ((0.5, 4096), (1 / 256, 300), (0.84, 17)):
        products = rng.uniform(-6, 6, 4000)
        places = rng.integers(0, count, 4000)
        exact, run = products + slope * places, rounded(products + rounded(slope * places))
        off = 2 * np.abs(run - exact).max()
        allowed = rounded_range(slope, 0.0, count, 6.0, unit)
        assert 0.2 * allowed < off <= allowed


@pytest.mark.parametrize("n_heads", [5, 16, 112, 128])
def test_slopes_drift_as_powers_in_single_precision_do(n_heads):
    """Biases of transformers' BLOOM in float32, against slopes that are exact."""
    from transformers.models.bloom.modeling_bloom import build_alibi_tensor

    count, slopes = 2049, np.array(alibi.slopes(n_heads))
    biases = build_alibi_tensor(torch.ones(1, count, dtype=torch.long), n_heads, torch.float32)[:, 0].double().numpy()
    off = np.abs(biases - np.outer(slopes, np.arange(count))).max(1)
    own = 2.0**-24 * slopes * (count - 1)  # of the product
    drifts = np.array([rounded._drift(cases.PLAIN._replace(n_heads=n_heads), slope, count) for slope in slopes])
    assert (off <= own + drifts).all()
    assert (off > own).any() == (n_heads > 5)


def test_refusals(model):
    _, _, folder = model
    checkpoint = open_checkpoint(folder)
    asked = settings(checkpoint, EPS, EPS)
    refused("arithmetic must be one of bfloat16", rounded_scopes, checkpoint, 0, [], asked, "int8")
    refused("unit", rounded_range, 0.5, 1.0, 10, 1.0, 0.0)
    assert rounded_range(0.5, 3.0, 1, 0.0, 2.0**-8) == 3 and alibi.scope(0.5, 3.0, 0.1) < 20


def test_the_command_says_what_rounding_leaves(model, tmp_path, capsys):
    from scripts.commands import scope
    from scripts.commands.cli import run

    _, _, folder = model
    out = tmp_path / "scope.json"
    common = [str(folder), "--eps", "1e-3", "--context", "64", "--arithmetic", "bfloat16", "--json", str(out)]
    assert run(scope.main, common) == 0
    told = capsys.readouterr().out
    heads = json.loads(out.read_text())["heads"]
    assert all(head["logit_range_in_bfloat16"] > head["logit_range"] for head in heads)
    below = sum(head["scope_in_bfloat16"] < 64 for head in heads)
    assert f"as run in bfloat16, at a context of 64: a scope below it for {below} of 8 heads" in told
    assert "in bfloat16" in told.splitlines()[0] and 2 <= below < 8 and "rounding leaves nothing to say" in told
    assert run(scope.main, [*common[:-2], "--heads", "0.1"]) == 0 and "of 1 heads" in capsys.readouterr().out


def test_the_command_refuses_shifted_heads(tmp_path, capsys):
    from dynamics.training.checkpoint import SHIPPED
    from scripts.commands import scope
    from scripts.commands.cli import run

    assert run(scope.main, [str(SHIPPED / "alibi-text"), "--eps", "1e-3", "--arithmetic", "bfloat16"]) == 2
    assert "without a shift" in capsys.readouterr().err
