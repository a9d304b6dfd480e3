"""Every variant against its definition, and whole = chunk = step = packed = scored rows = one of a stack for all."""

import pytest
import torch

from dynamics.model import stacked
from dynamics.model.cache import KVCache
from dynamics.model.decoder import InductionModel
from dynamics.model.values import Earlier
from tests.dynamics.model import variants
from tests.dynamics.refusal import refused
from tests.shares import one_in

LENGTH = 7
SPLITS = ((3, 4), (1, 5, 1), (2, 2, 3))
ROWS = torch.tensor([LENGTH - 1, 2])
DOCUMENTS = torch.tensor([[4] * LENGTH + [9] * 4] * 2)
NAMES = list(variants.CONFIGS)
SLIDING = [name for name in NAMES[::2] if variants.CONFIGS[name].weights in variants.WEIGHTS]


def built(name):
    """Of some a query sees three keys at most."""
    model = variants.model((variants.CONFIGS | variants.GLOBAL)[name])
    for block in model.blocks:
        block.attention.sliding_window = 3 if name in SLIDING else None
    return model


def a_third(start, *more):
    """Each variant runs every time in the first test here, and in at least one of the others."""
    return pytest.mark.parametrize("name", one_in(3, [*NAMES, *more], start))


def close(found, expected, apart=1e-10):
    torch.testing.assert_close(found, expected, rtol=0, atol=apart)


def in_parts(model, tokens, parts, caches=None):
    caches = variants.caches(model) if caches is None else caches
    return torch.cat([model(part, caches=caches) for part in tokens.split(list(parts), dim=1)], dim=1)


@torch.no_grad()
@pytest.mark.parametrize("name", [*NAMES, *variants.GLOBAL])
def test_whole_equals_the_definition_chunks_steps_documents_and_scored_rows(name):
    model, row = built(name), variants.tokens(2, LENGTH + 4)
    tokens = row[:, :LENGTH]
    whole, packed = model(tokens), model(row, segment_ids=DOCUMENTS)
    close(packed[1], torch.from_numpy(variants.logits(model, row[1].numpy(), DOCUMENTS[1].numpy())))
    close(packed[:, :LENGTH], whole)
    close(model(tokens, ROWS), whole[[0, 1], ROWS])
    rows = torch.tensor([LENGTH, LENGTH + 1])
    close(model(row, rows, segment_ids=DOCUMENTS), packed[[0, 1], rows])
    if name in NAMES[::3]:  # the others go in chunks with beams or gradients
        close(in_parts(model, tokens, SPLITS[NAMES.index(name) // 3 % 3]), whole)
    if model.config.causal:
        close(in_parts(model, tokens, [1] * LENGTH, variants.caches(model, LENGTH)), whole)


@torch.no_grad()
@a_third(0)
def test_left_pads_change_nothing_in_any_layer_and_at_scored_rows(name):
    model, count = built(name), torch.tensor([3, 0, 8])
    draw = torch.Generator().manual_seed(0)
    hidden = torch.randn(3, 8, model.config.width, generator=draw, dtype=torch.float64)
    for sizes in (None, [2, 1, 5]):
        found = _through_layers(model, hidden, count, sizes)
        close(found[0, 3:], _through_layers(model, hidden[:1, 3:])[0])
        close(found[1], _through_layers(model, hidden[1:2])[0])
        close(torch.cat([found[0, :3], found[2]]), torch.cat([hidden[0, :3], hidden[2]]))
    first, rows = model.blocks[0].attention, torch.tensor([4, 2, 5], dtype=torch.int32)
    for documents in (None, torch.tensor([[7, 7, 7, 7, 7, 1, 1, 7]] * 3)):
        given = {"padding": count, "segment_ids": documents}
        whole, shown = first(hidden, **given), first.weights(hidden, **given)
        close(first(hidden, query_index=rows, **given)[:, 0], whole[[0, 1, 2], rows])
        close(first.weights(hidden, query_index=rows, **given)[:, :, 0], shown[[0, 1, 2], :, rows])
        assert not shown[0, :, :3].any() and not shown[..., :3][0].any() and not shown[2].any()
    if model.config.start != "carried":
        for part in (slice(3, 5), slice(5, 7), slice(7, 8)):
            close(whole[0, part], first(hidden[:1, part])[0])
            close(shown[0, :, part, part], first.weights(hidden[:1, part])[0])


def _through_layers(model, hidden, padding=None, sizes=None):
    """The attentions one after another, without what stands between them; in chunks if sizes are given, and between
    these the first two sequences change places."""
    caches, out = [KVCache() if sizes else None for _ in model.blocks], []
    order = swapped = torch.tensor([1, 0, 2])
    for number, part in enumerate(hidden.split(sizes or hidden.shape[1], dim=1)):
        earlier, order = Earlier(), order[swapped]
        part = part[order] if sizes else part
        for block, cache in zip(model.blocks, caches, strict=True):
            pads = None if number else padding
            part = part + block.attention(part, padding=pads, cache=cache, earlier=earlier)
            if sizes:
                cache.reorder(swapped)
        out.append(part[order] if sizes else part)
    return torch.cat(out, dim=1)


@torch.no_grad()
@a_third(1)
def test_beams_are_reordered_with_all_that_is_kept(name):
    model, tokens, beams = built(name), variants.tokens(3, 6), torch.tensor([2, 0, 2])
    caches = variants.caches(model)
    in_parts(model, tokens[:, :5], [3, 2], caches)
    for cache in caches:
        cache.reorder(beams)
    close(model(tokens[beams, 5:], caches=caches)[:, 0], model(tokens)[beams, 5])


@a_third(2)
def test_gradients_are_differences_and_caches_keep_them(name):
    """Along one direction of all parameters at once, through a packed row."""
    model, tokens, draw = built(name), variants.tokens(2, LENGTH + 4), torch.Generator()
    parameters = list(model.parameters())
    along = [torch.randn(p.shape, generator=draw.manual_seed(n), dtype=p.dtype) for n, p in enumerate(parameters)]

    def loss():
        return model(tokens, segment_ids=DOCUMENTS).pow(2).sum()

    def moved(step):
        for parameter, direction in zip(parameters, along, strict=True):
            parameter.data.add_(direction, alpha=step)
        return loss().item()

    gradients, step = torch.autograd.grad(loss(), parameters), 1e-6
    slope = sum(float((g * d).sum()) for g, d in zip(gradients, along, strict=True))
    assert (moved(step) - moved(-2 * step)) / (2 * step) == pytest.approx(slope, rel=1e-4)
    whole = torch.autograd.grad(model(tokens).pow(2).sum(), parameters)
    parts = torch.autograd.grad(in_parts(model, tokens, [4, 1, 6]).pow(2).sum(), parameters)
    torch.testing.assert_close(parts, whole, rtol=1e-8, atol=1e-8)


@torch.no_grad()
@a_third(1, *variants.GLOBAL)
def test_each_model_of_a_stack_gives_its_own_logits(name):
    config = (variants.CONFIGS | variants.GLOBAL)[name]
    models = [variants.model(config, seed) for seed in range(3)]
    parameters, tokens = stacked.stack(models), variants.tokens(6, LENGTH + 4).view(3, 2, -1)
    rows, documents = torch.tensor([[6, 2], [1, 5], [0, 3]]), DOCUMENTS.expand(3, -1, -1)
    scored = torch.stack([model(tokens[n], rows[n]) for n, model in enumerate(models)])
    close(stacked.logits(config, parameters, tokens, rows), scored)
    packed = [model(tokens[n], segment_ids=DOCUMENTS) for n, model in enumerate(models)]
    close(stacked.logits(config, parameters, tokens, segment_ids=documents), torch.stack(packed))


@pytest.mark.parametrize("name", ["resformer-sink", "latent-kv", "differential-qkv", "selective-kv", "normed-none"])
def test_one_taken_out_of_a_stack_has_its_logits_and_vmap_of_the_module_its_gradients(name):
    models = [variants.model(variants.CONFIGS[name], seed) for seed in range(2)]
    parameters, more = stacked.stack(models), variants.tokens(2, LENGTH + 4)
    close(stacked.unstack(models[0].config, parameters, 1).double()(more, ROWS), models[1](more, ROWS))

    def energy(own):
        return torch.func.functional_call(models[0], own, (more,), {"segment_ids": DOCUMENTS}).pow(2).sum()

    slopes = torch.func.vmap(torch.func.grad(energy))(dict(parameters))
    for n, model in enumerate(models):
        own = dict(model.named_parameters())
        alone = torch.autograd.grad(model(more, segment_ids=DOCUMENTS).pow(2).sum(), own.values())
        for name, gradient in zip(own, alone, strict=True):
            torch.testing.assert_close(slopes[name][n], gradient, rtol=1e-8, atol=1e-8)


SHARES = {"lambda1": 0.7, "lambda2": 0.2}
# What is learnt beside a model, and that model.
STARTING = {
    "values of the layer itself": ({"values": "denseformer"}, {}),
    "shares of two layers' values": (
        {"values": variants.Residual(**SHARES, learnt=True)},
        {"values": variants.Residual(**SHARES)},
    ),
    "softmax plus one": ({"weights": "sink"}, {"weights": "plus_one"}),
    **{name: ({"past": past}, {}) for name, past in variants.PASTS.items() if not past[0].fixed},
    **{f"{name}'s start": ({"past": past, "start": "learnt"}, {"past": past}) for name, past in variants.PASTS.items()},
}


@torch.no_grad()
@pytest.mark.parametrize("name", STARTING)
def test_what_is_learnt_starts_as_the_model_without_it(name):
    configs = (variants.named(**options) for options in STARTING[name])
    learnt, plain = (InductionModel(config, torch.Generator().manual_seed(0)) for config in configs)
    row, more = variants.tokens(2, LENGTH + 4), learnt.state_dict().keys() - plain.state_dict().keys()
    close(learnt(row, segment_ids=DOCUMENTS), plain(row, segment_ids=DOCUMENTS), 1e-6)
    assert more and not plain.state_dict().keys() - learnt.state_dict().keys()


@torch.no_grad()
def test_what_stands_before_the_first_embedding_is_learnt():
    model = InductionModel(variants.named(past=variants.PASTS["smear"], start="learnt"), torch.Generator())
    row = variants.tokens(2, LENGTH)
    model.smear += 0.5  # which begins with nothing of the token before
    before = model(row)
    model.smear_start += 1.0
    assert ((model(row) - before).abs().amax(-1) > 0).any()


@pytest.mark.gpu
@torch.no_grad()
@pytest.mark.parametrize("values", variants.VALUES)
def test_on_a_gpu_every_variant_gives_the_same_logits(values):
    for number, weights in enumerate(variants.WEIGHTS):
        model = variants.model(variants.named(values, weights, position=variants.POSITIONS[number], n_kv_heads=2))
        tokens = variants.tokens(2, LENGTH)
        expected = model(tokens)
        model, there = model.cuda(), tokens.cuda()
        close(model(there).cpu(), expected, 1e-9)
        close(in_parts(model, there, [1] * LENGTH).cpu(), expected, 1e-9)


def test_a_global_model_has_no_cache_and_learnt_positions_end():
    tokens = variants.tokens(1, 5)
    everywhere = variants.model(variants.named(causal=False))
    refused("a cache needs causal attention", everywhere, tokens, caches=variants.caches(everywhere))
    learned = variants.model(variants.named(position="learned", max_length=6))
    caches = variants.caches(learned)
    learned(tokens, caches=caches)
    refused("10 tokens have no place among 6 positions", learned, tokens, caches=caches)
    long = variants.tokens(1, 9)
    learned(long, segment_ids=torch.tensor([[0] * 5 + [1] * 4]))
    refused("7 tokens have no place among 6 positions", learned, long, segment_ids=torch.tensor([[0] * 2 + [1] * 7]))
    with pytest.raises(ValueError, match="9 tokens have no place among 6 positions"):
        stacked.logits(learned.config, stacked.stack([learned]), long[None], torch.tensor([[8]]))


def test_caches_of_another_number_of_tokens_or_one_for_all_are_refused():
    model, tokens = variants.model(variants.named()), variants.tokens(1, 5)
    one = KVCache()
    refused("caches must be one a layer, 4, got 1", model, tokens, caches=[one] * 4)
    caches = [KVCache(9), KVCache(9), KVCache(3), KVCache(9)]
    with pytest.raises(ValueError, match="the cache holds 3 tokens, 5 do not fit"), torch.no_grad():
        model(tokens, caches=caches)
    refused("the caches hold 0, 5 tokens: they are of one text no more", model, tokens, caches=caches)


def test_a_layer_that_reads_of_others_says_so_when_it_is_called_alone():
    model = InductionModel(variants.named("resformer"))
    states = torch.randn(1, 4, 16)
    model.blocks[0].attention(states)
    refused("layer 1 reads what layers below it keep", model.blocks[1].attention, states)


@torch.no_grad()
def test_layers_that_borrow_all_of_a_projection_have_none():
    model = variants.model(variants.named("keys of the layer below"))
    assert [block.attention.k_proj is None for block in model.blocks] == [False, True, False, True]
    assert all(block.attention.q_proj is not None for block in model.blocks)


def test_every_field_of_every_record_is_tried_away_from_its_default():
    rules = [*variants.VALUES.values(), variants.KINDS["cla"]["values"]]
    for record in {type(rule) for rule in rules}:
        for name, field in record.model_fields.items():
            given = {getattr(rule, name) for rule in rules if type(rule) is record}
            assert name == "kind" or given - {field.default}, (record, name)
