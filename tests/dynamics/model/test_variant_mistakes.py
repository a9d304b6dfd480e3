"""Mistakes seen in public implementations, planted: each is caught by a check that the right code passes."""

from fractions import Fraction

import pytest
import torch

import dynamics.model.decoder as decoder
import dynamics.model.formed as formed
import dynamics.model.forward as forward
import dynamics.model.softmax as softmax
import dynamics.model.values as values
from dynamics.model.cache import KVCache
from dynamics.model.config import Borrowed, CrossLayer, Identity, ModelConfig, Neutreno, Residual, Shared
from tests.dynamics.model import variants
from theory.value_residual import svformer_cache

CLOSE, PLANTED = 1e-10, 1e-3
UNEVEN = Residual(lambda1=1.0, lambda2=2.0)


@torch.no_grad()
def gap(rule, **options):
    """How far a model is from its definition."""
    model, tokens = variants.model(variants.named(rule, **options)), variants.tokens(1, 6)
    return float((model(tokens)[0] - torch.from_numpy(variants.logits(model, tokens[0].numpy()))).abs().max())


@torch.no_grad()
def chunk_gap(rule, **options):
    """How far a model that decodes step by step is from itself."""
    model, tokens = variants.model(variants.named(rule, **options)), variants.tokens(2, 6)
    caches = [KVCache() for _ in model.blocks]
    stepped = torch.cat([model(part, caches=caches) for part in tokens.split(1, dim=1)], dim=1)
    return float((stepped - model(tokens)).abs().max())


def first_gradient(rule):
    """The gradient that reaches the first layer's value projection through V_1 alone: its own output is cut."""
    model = variants.model(variants.named(rule))
    model.blocks[0].attention.o_proj.weight.data.zero_()
    model(variants.tokens(2, 6)).sum().backward()
    return float(model.blocks[0].attention.v_proj.weight.grad.abs().max())


def cache_bytes(rule, capacity=None, **options):
    """Bytes of every storage that the caches of a model reach, and of a vanilla model's keys and values."""
    config = variants.named(rule, **({"shift": "none"} | options))
    model, caches = variants.model(config), [KVCache(capacity) for _ in range(variants.LAYERS)]
    with torch.no_grad():
        for part in variants.tokens(2, 6).split([4, 1, 1], dim=1):
            model(part, caches=caches)
    held = {}
    for cache in caches:
        for tensor in (*vars(cache).values(), *cache._raw.values()):
            if isinstance(tensor, torch.Tensor):
                held[tensor.untyped_storage().data_ptr()] = tensor.untyped_storage().nbytes()
    full = 2 * variants.LAYERS * 2 * (capacity or 6) * config.width * 8
    return Fraction(sum(held.values()), full)


@pytest.mark.parametrize("capacity", [None, 9])
@pytest.mark.parametrize("n_kv_heads", [None, 2, 1])
@pytest.mark.parametrize("anchors", [(0,), (0, 2), (0, 1, 2, 3)])
def test_svformers_cache_is_what_the_formula_says(anchors, n_kv_heads, capacity):
    groups = n_kv_heads or variants.HEADS
    expected = svformer_cache(variants.LAYERS, variants.HEADS, groups, len(anchors))
    for order in ("raw", "shifted"):
        assert cache_bytes(Shared(anchors=anchors, order=order), capacity, n_kv_heads=n_kv_heads) == expected
    assert cache_bytes("vanilla", capacity, n_kv_heads=n_kv_heads) == Fraction(groups, variants.HEADS)
    if len(anchors) == 1:
        assert expected == Fraction(groups * (variants.LAYERS + 1), 2 * variants.LAYERS * variants.HEADS)


def test_a_shifted_svformer_keeps_one_raw_key_a_layer_besides():
    one = Fraction(1, 2 * 6)  # of 6 tokens, a key of each layer
    assert cache_bytes(Shared(), shift="kv") == svformer_cache(variants.LAYERS) + one


def test_a_cache_of_residuals_is_as_large_as_vanilla():
    for rule in (Residual(), Neutreno(), Identity(), CrossLayer(), Borrowed(of="key", own=0.0)):
        assert cache_bytes(rule) == 1


def test_an_svformer_that_caches_its_value_in_every_layer_is_caught(monkeypatch):
    def kept_by_each(heads, p, cache, earlier, key, value, raw):
        return cache.append(key, value, {}, 1)

    monkeypatch.setattr(formed, "_shared", kept_by_each)
    assert chunk_gap(Shared(), shift="none") < CLOSE  # which is why nobody notices
    assert cache_bytes(Shared()) == 1 > svformer_cache(variants.LAYERS)


def test_one_beam_is_reordered_with_the_values_it_shares():
    model = variants.model(variants.named("svformer"))
    tokens, beams = variants.tokens(3, 6), torch.tensor([2, 0, 2])
    caches = [KVCache() for _ in model.blocks]
    with torch.no_grad():
        model(tokens[:, :5], caches=caches)
        for cache in caches:
            cache.reorder(beams)
        found = model(tokens[beams, 5:], caches=caches)
        torch.testing.assert_close(found[:, 0], model(tokens)[beams, 5], rtol=0, atol=CLOSE)


@pytest.mark.parametrize("rule", [Residual(), UNEVEN, Residual(order="shifted"), Shared(), Neutreno(), Identity()])
def test_the_gradient_flows_through_the_first_values(rule, monkeypatch):
    assert first_gradient(rule) > PLANTED
    right = values.Earlier.note_values
    detached = lambda self, rule, layer, own: right(self, rule, layer, own.detach())  # noqa: E731
    monkeypatch.setattr(values.Earlier, "note_values", detached)
    assert first_gradient(rule) == 0


@pytest.mark.parametrize("source", ["first", "previous", "mean"])
@pytest.mark.parametrize(("of", "weight"), [("query", "q_proj"), ("key", "k_proj"), ("value", "v_proj")])
def test_the_gradient_flows_through_what_is_borrowed(of, weight, source, monkeypatch):
    """The last layer alone borrows; a gradient through what layer 2 projects goes on to the layers below it."""
    tokens = variants.tokens(1, 5)

    def gradients():
        model = variants.model(variants.named(Borrowed(of=of, source=source, layers=(3,))))
        of_layers = [getattr(block.attention, weight).weight for block in model.blocks[:3]]
        return torch.autograd.grad(model(tokens)[0, -1].square().sum(), of_layers)

    right, true = values.Earlier.note_projected, gradients()
    detached = lambda self, rule, layer, found: right(self, rule, layer, found.detach())  # noqa: E731
    monkeypatch.setattr(values.Earlier, "note_projected", detached)
    moved = [float((a - b).abs().max()) > PLANTED for a, b in zip(true, gradients(), strict=True)]
    assert moved == ([True, False, False] if source == "first" else [True] * 3)


@torch.no_grad()
def test_layers_that_borrow_all_of_a_projection_have_none():
    model = variants.model(variants.named(Borrowed(of="key", own=0.0, source="previous", layers=(1, 3))))
    assert [block.attention.k_proj is None for block in model.blocks] == [False, True, False, True]
    assert all(block.attention.q_proj is not None for block in model.blocks)
    with pytest.raises(ValueError, match="the keys of another layer has no probabilities to show by itself"):
        model.attention_weights(variants.tokens(1, 4), torch.tensor([3]))


def test_the_gradient_through_the_first_values_is_that_of_the_definition():
    model, tokens = variants.model(variants.named(UNEVEN)), variants.tokens(1, 5)
    weight, step = model.blocks[0].attention.v_proj.weight, 1e-6
    (gradient,) = torch.autograd.grad(model(tokens)[0, -1, 3], weight)
    with torch.no_grad():
        for place in ((0, 0), (3, 5), (7, 2)):
            sides = []
            for sign in (1, -1):
                weight[place] += sign * step
                sides.append(variants.logits(model, tokens[0].numpy())[-1, 3])
                weight[place] -= sign * step
            assert float(gradient[place]) == pytest.approx((sides[0] - sides[1]) / (2 * step), abs=1e-7)


def planted_sum(change):
    """values.combined with (own, first) changed before they are added up."""
    right = values.combined

    def combined(rule, layer, own, earlier, factors=None):
        if not (isinstance(rule, Residual) and values.reads(rule, layer)):
            return right(rule, layer, own, earlier, factors)
        return change(rule, own, earlier.first)

    return combined


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(lambda r, own, first: r.lambda1 * own + r.lambda2 / 2 * first, id="halved lambda"),
        pytest.param(lambda r, own, first: r.lambda1 * first + r.lambda2 * own, id="swapped arguments"),
        pytest.param(lambda r, own, first: (r.lambda1 * own + r.lambda2 * first) / 3, id="normalised"),
        pytest.param(lambda r, own, first: own, id="forgotten"),
    ],
)
def test_a_wrong_residual_is_caught(change, monkeypatch):
    assert gap(UNEVEN) < CLOSE
    monkeypatch.setattr(values, "combined", planted_sum(change))
    assert gap(UNEVEN) > PLANTED


def test_shifting_the_first_values_before_they_are_added_is_caught(monkeypatch):
    monkeypatch.setattr(values, "shifted_first", lambda rule: True)
    assert gap(Residual()) > PLANTED


def test_a_neutreno_of_the_wrong_sign_is_caught(monkeypatch):
    right = values.added
    assert gap(Neutreno()) < CLOSE
    turned = lambda *args: None if (found := right(*args)) is None else -found  # noqa: E731
    monkeypatch.setattr(values, "added", turned)
    assert gap(Neutreno()) > PLANTED


def test_a_denseformer_without_its_embedding_is_caught(monkeypatch):
    right = decoder._over_depth
    assert gap("denseformer") < CLOSE
    without = lambda states, weights: right(states, weights * (torch.arange(len(states)) > 0))  # noqa: E731
    monkeypatch.setattr(decoder, "_over_depth", without)
    assert gap("denseformer") > PLANTED


@torch.no_grad()
def test_cross_layer_attention_that_sees_the_future_of_the_other_layer_is_caught(monkeypatch):
    def future_gap():
        model, tokens = variants.model(variants.named(CrossLayer())), variants.tokens(1, 6)
        other = torch.cat([tokens[:, :3], (tokens[:, 3:] + 1) % variants.VOCAB], dim=1)
        return float((model(tokens)[:, :3] - model(other)[:, :3]).abs().max())

    assert future_gap() == 0
    right = forward._mask

    def half_masked(heads, where, dtype):
        mask = right(heads, where, dtype)
        if not heads.over_two:
            return mask
        own, other = mask.chunk(2, dim=-1)
        return torch.cat([own, torch.ones_like(other)], dim=-1)

    monkeypatch.setattr(forward, "_mask", half_masked)
    assert future_gap() > PLANTED


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(lambda sinks: -sinks, id="sign"),
        pytest.param(lambda sinks: sinks.flip(-1), id="another head's"),
        pytest.param(lambda sinks: None, id="forgotten"),
        pytest.param(lambda sinks: sinks.exp(), id="taken for a weight"),
    ],
)
def test_a_wrong_sink_logit_is_caught(change, monkeypatch):
    right = forward._sinks
    assert gap("vanilla", weights="sink") < CLOSE
    monkeypatch.setattr(forward, "_sinks", lambda *args: change(right(*args)))
    assert gap("vanilla", weights="sink") > PLANTED


def test_a_softmax_plus_one_that_is_shifted_by_its_largest_logit_is_caught(monkeypatch):
    def shifted(query, key, value, mask, scale, sinks=None, causal=True):
        weights = softmax.probabilities(query, key, mask, scale)  # e^{x - max} / sum e^{x - max}
        largest = weights.amax(-1, keepdim=True)
        powers = weights / largest
        return powers / (1 + powers.sum(-1, keepdim=True)) @ value

    assert gap("vanilla", weights="plus_one") < CLOSE
    monkeypatch.setattr(forward, "attend", shifted)
    assert gap("vanilla", weights="plus_one") > PLANTED


def test_learnt_positions_that_start_anew_at_each_step_are_caught(monkeypatch):
    right = decoder.InductionModel.embed
    assert chunk_gap("vanilla", position="learned") < CLOSE
    monkeypatch.setattr(decoder.InductionModel, "embed", lambda self, tokens, *_: right(self, tokens))
    assert chunk_gap("vanilla", position="learned") > PLANTED


def test_a_mask_that_is_thrown_away_is_caught(monkeypatch):
    monkeypatch.setattr(forward, "_mask", lambda heads, where, dtype: torch.ones(where.length, where.length).bool())
    assert gap(Residual(), position="none") > PLANTED


FIELDS = [
    (Residual(), {"lambda1": 0.9}), (Residual(), {"lambda2": 0.9}), (Residual(), {"learnt": True}),
    (Residual(), {"layers": (1,)}), (Residual(), {"order": "shifted"}), (Shared(), {"anchors": (0, 2)}),
    (Shared(), {"order": "shifted"}), (Shared(order="shifted"), {"keys": True}), (Neutreno(), {"lam": 0.7}),
    (Neutreno(), {"order": "shifted"}), (Identity(), {"order": "shifted"}), (CrossLayer(), {"source": "previous"}),
    (Borrowed(of="key"), {"of": "query"}), (Borrowed(of="key"), {"source": "mean"}), (Borrowed(of="key"), {"own": 0.9}),
    (Borrowed(of="key"), {"other": 0.9}), (Borrowed(of="key"), {"layers": (2,)}),
]  # fmt: skip


@torch.no_grad()
@pytest.mark.parametrize(("rule", "change"), FIELDS, ids=lambda found: str(found))
def test_no_setting_is_kept_at_its_default_in_silence(rule, change):
    first = variants.model(variants.named(rule))
    config = ModelConfig.checked(first.config.model_dump() | {"values": rule.model_dump() | change})
    assert type(config.values) is type(rule) and config.values == rule.model_copy(update=change)
    other, tokens = variants.model(config), variants.tokens(1, 6)
    for name, parameter in first.named_parameters():
        if name in dict(other.named_parameters()):
            dict(other.named_parameters())[name].copy_(parameter)
    assert (first(tokens) - other(tokens)).abs().max() > PLANTED


def test_every_field_of_every_record_is_tried():
    tried = {(type(rule), name) for rule, change in FIELDS for name in change}
    records = {type(rule) for rule in variants.VALUES.values()}
    assert tried == {(record, name) for record in records for name in record.model_fields if name != "kind"}
