"""Tensors of every kind, half precision and huge weights, in memory and in files: a right number, or one plain line."""

import numpy as np
import pytest
import torch

from dynamics.model.config import ModelConfig
from dynamics.model.decoder import InductionModel
from dynamics.scope import adversary, heads, promise, ranges
from dynamics.scope.adversary_context import heads as heads_of
from dynamics.weights.reader import Checkpoint, open_checkpoint
from dynamics.weights.running import export_baichuan_m1, load_baichuan_m1
from tests.dynamics.refusal import refused
from tests.dynamics.scope.cases import ALIBI, CASES, PLAIN, InMemory
from tests.dynamics.weights import checkpoint_files as files
from tests.theory.test_extreme import REFUSED, TAKEN, one_line
from theory import alibi

W = np.random.default_rng(0).standard_normal((2, 3, 6))
HEADS = {"w_q": W, "w_k": W[::-1].copy(), "gamma": np.ones(6), "norm_bias": np.full(6, 0.1), "query_bias": np.ones(3),
         "slope": np.array(0.5)}  # fmt: skip
STACK = heads_of(**HEADS)
SETTINGS = {"eps": np.array(0.25), "mass": np.array(0.5)}


@pytest.mark.parametrize("kind", REFUSED)
@pytest.mark.parametrize("name", HEADS)
def test_heads_of_tensors_without_plain_numbers_are_refused(name, kind):
    assert one_line(lambda: heads_of(**HEADS | {name: REFUSED[kind](HEADS[name])})) is None


@pytest.mark.parametrize("kind", TAKEN)
@pytest.mark.parametrize("name", HEADS)
def test_heads_of_few_bits_are_taken_at_their_value(name, kind):
    given = TAKEN[kind](HEADS[name])
    found, wide = (heads_of(**HEADS | {name: value}) for value in (given, np.asarray(given, dtype=np.float64)))
    assert torch.equal(getattr(found, name), getattr(wide, name)) and getattr(found, name).dtype == torch.float64


@pytest.mark.parametrize("name", ["w_q", "w_k", "gamma", "norm_bias", "query_bias"])
def test_heads_whose_logits_could_overflow_are_refused_and_others_are_searched(name):
    huge = HEADS | {name: 1e200 * HEADS[name]}
    refused(r"^the weights are too large: a logit may reach .*, not below 1e\+150$", heads_of, **huge)
    fair = HEADS | {"w_q": 1e200 * W, "query_bias": 1e200 * np.ones(3), "w_k": 1e-200 * HEADS["w_k"]}
    found = adversary.largest_ranges(heads_of(**fair), starts=4, steps=60)
    assert found.numpy() == pytest.approx(adversary.largest_ranges(STACK, starts=4, steps=60).numpy(), rel=1e-6)


NOT_COUNTS = ["3", 3.0, np.float16(3), True, 3j, 1e200, torch.tensor(3), torch.empty((), device="meta"), None, [3]]


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    tensors = files.random_tensors(files.llama_shapes(files.LLAMA))
    return files.write(tmp_path_factory.mktemp("extreme") / "model", files.LLAMA, tensors)


@pytest.mark.parametrize("count", NOT_COUNTS, ids=repr)
def test_distances_windows_lengths_layers_and_heads_are_whole_numbers(written, count):
    checkpoint, alibi = open_checkpoint(written), CASES["alibi"]
    calls = []
    for search in (adversary.heaviest_weights, adversary.heaviest_masses):
        calls += [lambda search=search: search(STACK, [count, 3])]
        calls += [lambda search=search: search(STACK, [3, 3], [count, 9])]
    calls += [
        lambda: promise.windows(alibi, 0.25, count),
        lambda: promise.promised_plan(alibi, 0.25, count),
        lambda: list(ranges.layer_ranges(checkpoint, count)),
        lambda: checkpoint.small(count),
        lambda: checkpoint.layer_architecture(count),
        lambda: checkpoint.projection(count, "query", 0, 1),
        lambda: checkpoint.projection(0, "query", count, 4),
        lambda: checkpoint.projection(0, "query", 0, count),
    ]
    if count is not None:  # the default of these
        calls += [lambda: heads.settings(alibi, **SETTINGS, window=count)]
        calls += [lambda: heads.settings(alibi, **SETTINGS, context=count)]
        calls += [lambda: heads.checkpoint_scopes(written, 0.1, context=count)]
    assert [one_line(call) for call in calls] == [None] * len(calls)


@pytest.mark.parametrize("kind", REFUSED)
def test_shares_that_are_no_plain_numbers_are_refused(written, kind):
    share, alibi = REFUSED[kind](np.array(0.25)), CASES["alibi"]
    calls = [lambda name=name: heads.settings(alibi, **SETTINGS | {name: share}) for name in SETTINGS]
    calls += [lambda call=call: call(alibi, share, 9) for call in (promise.windows, promise.promised_plan)]
    calls += [lambda: heads.checkpoint_scopes(written, share)]
    assert [one_line(call) for call in calls] == [None] * len(calls)


@pytest.mark.parametrize("value", [np.float16(0.1), np.float32(0.1), 1e-300])
def test_shares_are_taken_at_their_value(value):
    for name in SETTINGS:
        found = heads.settings(CASES["alibi"], **SETTINGS | {name: value})
        assert getattr(found, name) == float(value) and type(getattr(found, name)) is float
    assert promise.windows(CASES["alibi"], value, 9) == promise.windows(CASES["alibi"], float(value), 9)


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("size", [1e-40, 1e-20, 1e20, 1e37])
def test_scopes_of_weights_near_the_ends_of_float32_are_numbers_and_none_too_small(name, size):
    made = InMemory(CASES[name].architecture, size)
    asked = heads.settings(made, 1e-3, 1e-2)
    for head in heads.layer_scopes(made, 0, asked):
        values = [head.logit_range, head.dropped_mass, head.output_error]
        assert np.isfinite(values).all() and head.logit_range > 0 and head.scope > 0
        if head.basis is ranges.Basis.ATTAINED:
            true = alibi.logit_range(*made.pair(0, head), made.small(0).gamma, norm=made.architecture.norm)
            true *= made.architecture.scale * made.architecture.d_head**0.5
            assert head.logit_range == pytest.approx(true, rel=1e-10)
            assert head.spectral_scope >= head.scope * (1 - 1e-12)


def test_clips_are_compared_in_float64_whatever_the_weights():
    """Squares of float32 weights of 1e30 overflow, and of 1e-30 vanish."""
    for size, basis in ((1e30, ranges.Basis.CLIPPED), (1e-30, ranges.Basis.ATTAINED)):
        made = InMemory(PLAIN._replace(clip=0.8, **ALIBI), size)
        assert {head.basis for head in ranges.layer_ranges(made, 0)} == {basis}


MODEL = ModelConfig(vocab=12, width=16, n_layers=2, n_heads=2, shift="kv")


@pytest.mark.parametrize("dtype", [torch.complex64, torch.int8, "float32", None, torch.bool])
def test_a_model_is_not_loaded_in_what_is_not_a_floating_type(written, dtype):
    assert one_line(lambda: load_baichuan_m1(written, dtype)) is None


def test_models_without_weights_or_with_infinite_ones_are_not_exported(tmp_path):
    model = InductionModel(MODEL)
    with torch.no_grad():
        model.blocks[1].attention.q_proj.weight[0, 0] = torch.inf
    refused(r"holds a value that is not finite in float32$", export_baichuan_m1, model, tmp_path / "infinite")
    meta = InductionModel(MODEL).to("meta")
    refused("the model has no weights: they are on the meta device", export_baichuan_m1, meta, tmp_path / "meta")
    assert not list(tmp_path.iterdir())
    half = export_baichuan_m1(InductionModel(MODEL).to(torch.bfloat16), tmp_path / "half")
    assert isinstance(open_checkpoint(half), Checkpoint)
