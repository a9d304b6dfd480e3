"""Shifts in other places: each against its definition written out, causality, refusals, and the sweep's presets."""

import pytest
import torch

from dynamics.experiments import QUICK, induction
from dynamics.experiments.decoupling import PRESETS, WIDTHS
from dynamics.model.attention_function import full_attention, replaced
from dynamics.model.config import ModelConfig
from dynamics.model.decoder import InductionModel, build
from dynamics.model.places import PlacedModel
from dynamics.sweep.run import run_sweep
from dynamics.weights.own import layout
from tests.dynamics.folders import saved
from tests.dynamics.model.test_decoder import rows_of
from tests.dynamics.model.test_variants import close
from tests.dynamics.refusal import refused

PLACES = {
    "common": {"shift": "kv"},
    "half": {"shift": "none"},
    "fused": {"shift": "none"},
    "apart": {"shift": "none", "n_layers": 2},
}


def config_of(place: str, **options) -> ModelConfig:
    return ModelConfig(
        **{"vocab": 40, "width": 16, "n_heads": 2, "mlp_width": 24, "place": place, **PLACES[place]} | options
    )


def model_of(place: str, seed: int = 0, **options) -> PlacedModel:
    return build(config_of(place, **options), torch.Generator().manual_seed(seed)).double()


def read_out(layer, queries, keys, values, alpha=None):
    """Attention without positions, token by token: alpha (heads, 2) mixes keys and values of a head alike."""
    q, k, v = (project(x).unflatten(-1, (layer.n_heads, -1)) for project, x in
               ((layer.q_proj, queries), (layer.k_proj, keys), (layer.v_proj, values)))  # fmt: skip
    if alpha is not None:
        k, v = (alpha[:, :1] * x + alpha[:, 1:] * torch.cat([torch.zeros_like(x[:, :1]), x[:, :-1]], 1) for x in (k, v))
    rows = []
    for t in range(q.shape[1]):
        scores = (q[:, t, None] * k[:, : t + 1]).sum(-1) / layer.head_dim**0.5
        rows.append((scores.softmax(1)[..., None] * v[:, : t + 1]).sum(1).flatten(1))
    return layer.o_proj(torch.stack(rows, 1))


def logits_by_definition(model, tokens):
    place, hidden = model.config.place, model.embedding[tokens]
    embedded = hidden
    for number, block in enumerate(model.blocks):
        x = block.attention_norm(hidden)
        queries = keys = values = x
        if place == "half":
            queries = keys = values = torch.cat([x[..., :8], torch.roll(x, 1, 1)[..., 8:]], -1)
            queries[:, 0, 8:] = 0
        if place == "fused":
            moved = torch.roll(x, 1, 1)
            moved[:, 0] = 0
            keys = values = (x + torch.einsum("ij,blj->bli", model.rotation, moved)) / 2**0.5
        if place == "apart" and number == 1:
            keys, values = block.attention_norm(hidden - embedded), block.attention_norm(embedded)
        hidden = hidden + read_out(block.attention, queries, keys, values, block.attention.alpha)
        hidden = hidden + block.mlp(block.mlp_norm(hidden))
    return model.norm(hidden) @ model.embedding.T


@pytest.mark.parametrize("place", PLACES)
def test_places_are_what_their_definitions_say(place):
    model, tokens = model_of(place, position="none"), rows_of(1)
    assert all(block.attention.beta is None for block in model.blocks)
    close(model(tokens), logits_by_definition(model, tokens), 1e-12)


def test_the_fixed_matrix_is_orthogonal_no_weight_and_a_function_of_the_seed():
    model, again, other = model_of("fused"), model_of("fused"), model_of("fused", seed=1)
    close(model.rotation @ model.rotation.T, torch.eye(16, dtype=torch.double), 1e-6)
    assert torch.equal(model.rotation, again.rotation) and not torch.equal(model.rotation, other.rotation)
    assert "rotation" not in dict(model.named_parameters()) and "rotation" not in model.state_dict()


def test_other_readers_refuse_a_placed_model(tmp_path):
    model = model_of("fused").float()
    refused(r"place is 'fused' is made by dynamics\.model\.decoder\.build", InductionModel, model.config)
    refused("no cache", model, rows_of(0), caches=[])
    refused("takes no packed documents", model, rows_of(0), segment_ids=rows_of(0))
    refused("placed at 'fused' cannot be replaced", replaced(model, full_attention).__enter__)
    refused("not shown", model.attention_weights, rows_of(0), torch.tensor([1, 2, 3]))
    saved(tmp_path, model)
    refused("placed at 'fused'", layout, tmp_path)


def test_variants_have_the_setting_of_figure_1b_and_share_its_runs():
    shared, variants = induction.PRESETS["figure-1b"].variants, PRESETS["decoupling"].variants
    assert {variant.training for variant in variants.values()} == {shared["kv-shift.width-16"].training}
    for width in WIDTHS:
        for model in ("kv-shift", "vanilla-2"):
            assert shared[f"{model}.width-{width}"] == variants[f"width-{width}.{model}"]


def test_quick_preset_runs(tmp_path):
    preset = PRESETS["decoupling" + QUICK]
    few = {"steps": 2, "batch": 4, "heldout_rows": 8}
    jobs = [job.but(training=job.training.but(**few)) for job in preset.jobs(1)]
    results = run_sweep(jobs, tmp_path, measure=preset.measure, backend="sequential", progress=False)
    assert [result.job.name for result in results] == [f"{variant}.seed-0" for variant in preset.variants]
