"""What a shift finds before a document: nothing, the document before it, or a learnt vector."""

import pytest
import torch

import dynamics.model.formed as formed
import dynamics.model.past as past_module
from dynamics.model import stacked
from dynamics.model.attention import KVShiftAttention
from dynamics.model.attention_function import full_attention, replaced
from dynamics.model.cache import KVCache
from dynamics.model.config import CANON, KEY_OFFSET, SMEAR, ModelConfig, Past
from dynamics.model.decoder import InductionModel
from dynamics.model.positions import Layout
from dynamics.model.shift import before_first, shift_mix
from tests.dynamics.model import kv_cases, start_loops, variants
from tests.dynamics.model.test_variants import close

CLOSE, APART = 1e-10, 1e-4
KINDS = ("zero", "carried", "learnt")
CASES = {
    "kv": {},
    "k": {"shift": "k", "position": "none"},
    "qkv": {"shift": "qkv", "n_kv_heads": 2},
    "window 3": {"shift": "qkv", "window": 3},
    "smear": {"shift": "none", "past": SMEAR},
    "canon A": {"shift": "none", "past": CANON["A"]},
    "key offset": {"shift": "none", "past": KEY_OFFSET},
    "canon and kv": {"n_kv_heads": 2, "window": 3, "past": CANON["A"] + CANON["B"] + CANON["C"] + CANON["D"]},
    "others": {"shift": "qkv", "past": (Past(at="output", per="one"), Past(at="embedding", window=3, residual=False))},
}
SIZES = (3, 1, 4, 2)
LENGTH = sum(SIZES)
DOCUMENTS = [number % 2 for number, size in enumerate(SIZES) for _ in range(size)]


def config(kind, name="kv", **more):
    sizes = {"vocab": variants.VOCAB, "width": 16, "n_heads": 4, "n_layers": 2, "mlp_width": 8, "start": kind}
    return ModelConfig.checked(sizes | CASES[name] | more)


def model(kind, name="kv", seed=0, **more):
    """In double precision, with coefficients and starts of order one."""
    return away(InductionModel(config(kind, name, **more), torch.Generator().manual_seed(seed)), seed)


@torch.no_grad()
def away(built, seed=0):
    draw = torch.Generator().manual_seed(seed)
    for name, parameter in built.double().named_parameters():
        if "start" in name or "past." in name or "smear" in name:
            parameter.add_(torch.randn(parameter.shape, generator=draw, dtype=parameter.dtype))
    return built


def packed(batch=2):
    return variants.tokens(batch, LENGTH), torch.tensor([DOCUMENTS] * batch)


@torch.no_grad()
def in_parts(built, tokens, parts):
    caches = [KVCache() for _ in built.blocks]
    return torch.cat([built(part, caches=caches) for part in tokens.split(list(parts), dim=1)], dim=1)


@torch.no_grad()
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", CASES)
def test_a_packed_row_equals_the_loop_and_its_scored_rows(kind, name):
    built, (tokens, documents) = model(kind, name), packed()
    whole = built(tokens, segment_ids=documents)
    close(whole[1], torch.from_numpy(start_loops.logits(built, tokens[1].tolist(), DOCUMENTS)))
    for rows in ([0, 3], [5, 8]):
        close(built(tokens, torch.tensor(rows), segment_ids=documents), whole[[0, 1], rows])


@torch.no_grad()
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", CASES)
def test_whole_equals_chunks_steps_scored_rows_and_what_is_packed(kind, name):
    built, tokens = model(kind, name), variants.tokens(2, 7)
    whole = built(tokens)
    close(whole[0], torch.from_numpy(start_loops.logits(built, tokens[0].tolist(), [5] * 7)))
    for parts in ((1, 2, 4), (1,) * 7):
        close(in_parts(built, tokens, parts), whole)
    for rows in ([6, 0], [1, 2]):
        close(built(tokens, torch.tensor(rows)), whole[[0, 1], rows])
    row, documents = packed()
    alone = torch.cat([built(part) for part in row.split(list(SIZES), dim=1)], dim=1)
    gap = (built(row, segment_ids=documents) - alone).abs().max()
    assert gap > APART if kind == "carried" else gap < CLOSE


@torch.no_grad()
@pytest.mark.parametrize("name", CASES)
def test_a_fresh_learnt_start_is_zero(name):
    tokens, documents = packed()
    zero, learnt = (InductionModel(config(kind, name), torch.Generator().manual_seed(1)) for kind in ("zero", "learnt"))
    assert torch.equal(zero(tokens, segment_ids=documents), learnt(tokens, segment_ids=documents))
    more = learnt.state_dict().keys() - zero.state_dict().keys()
    assert more and all("start" in key for key in more) and not zero.state_dict().keys() - learnt.state_dict().keys()
    away(learnt).load_state_dict(away(zero).state_dict(), strict=False)
    assert (zero(tokens, segment_ids=documents) - learnt(tokens, segment_ids=documents)).abs().max() > APART


@torch.no_grad()
@pytest.mark.parametrize("name", CASES)
def test_carried_is_the_shift_of_an_unpacked_row_under_attention_in_blocks(name, monkeypatch):
    built, plain, (tokens, documents) = model("carried", name), model("zero", name), packed()
    expected = built(tokens, segment_ids=documents)
    runs = torch.tensor(DOCUMENTS).diff(prepend=torch.tensor([0])).ne(0).cumsum(0)
    blocks = (runs[:, None] == runs).tril()[None, None]
    monkeypatch.setattr(Layout, "visible", lambda where: blocks)
    close(plain(tokens), expected)


@torch.no_grad()
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", CASES)
def test_a_document_depends_on_its_neighbour_only_where_shifts_are_carried(kind, name):
    built, (tokens, documents) = model(kind, name), packed()
    first = sum(SIZES[:2])
    changed = torch.cat([(tokens[:, :first] + 1) % variants.VOCAB, tokens[:, first:]], dim=1)
    one, other = (built(row, segment_ids=documents)[:, first:] for row in (tokens, changed))
    assert (one - other).abs().max() > APART if kind == "carried" else torch.equal(one, other)


@pytest.mark.parametrize("name", CASES)
def test_gradients_reach_every_learnt_start_and_are_differences(name):
    built, (tokens, documents) = model("learnt", name), packed()

    def loss():
        return built(tokens, segment_ids=documents).pow(2).mean()

    loss().backward()
    starts = {key: p for key, p in built.named_parameters() if "start" in key}
    for key, p in starts.items():
        if key.endswith("start.query") and built.config.window == 2:
            assert p.grad.abs().max() < 1e-15  # the one query that is mixed with it sees one key
            continue
        assert (p.grad.abs() > 1e-12).double().mean() == (0.5 if name == "key offset" else 1.0), key
        index, step = int(p.grad.abs().argmax()), 1e-5
        with torch.no_grad():
            ends = []
            for sign in (1, -2):
                p.view(-1)[index] += sign * step
                ends.append(loss().item())
            p.view(-1)[index] += step
        assert (ends[0] - ends[1]) / (2 * step) == pytest.approx(p.grad.view(-1)[index].item(), rel=1e-4)


@torch.no_grad()
@pytest.mark.parametrize("values", variants.VALUES)
def test_values_of_other_layers_start_alike_in_chunks_documents_and_scored_rows(values):
    for kind, shift in (("learnt", "kv"), ("learnt", "qkv"), ("carried", "v")):
        settings = variants.named(values, "softmax", shift, n_kv_heads=2, start=kind, window=3)
        built, tokens = away(variants.model(settings)), variants.tokens(2, 7)
        whole = built(tokens)
        close(in_parts(built, tokens, (1, 2, 4)), whole)
        close(in_parts(built, tokens, [1] * 7), whole)
        close(built(tokens, torch.tensor([1, 6])), whole[[0, 1], [1, 6]])
        documents = torch.tensor([[0] * 7 + [1] * 3] * 2)
        both = built(torch.cat([tokens, tokens[:, :3]], dim=1), segment_ids=documents)
        assert ((both[:, 7:] - whole[:, :3]).abs().max() < CLOSE) == (kind == "learnt")
        close(both[:, :7], whole)


def through_layers(built, hidden, padding=None, sizes=None):
    """The attentions one after another, in chunks if sizes are given."""
    caches = [KVCache() if sizes else None for _ in built.blocks]
    out = []
    for number, part in enumerate(hidden.split(sizes or [hidden.shape[1]], dim=1)):
        earlier = formed.Earlier()
        for block, cache in zip(built.blocks, caches, strict=True):
            pads = None if number and sizes else padding
            part = part + block.attention(part, padding=pads, cache=cache, earlier=earlier)
        out.append(part)
    return torch.cat(out, dim=1)


@torch.no_grad()
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("values", variants.VALUES)
def test_left_pads_stand_for_nothing_or_for_what_is_learnt(kind, values):
    mixed = {"cla": ("query",), "svf": ("query", "key")}.get(values[:3], ("query", "key", "value"))
    # what is shared or borrowed is not mixed a second time
    pasts = [past for past in CANON["B"] if past.at in mixed and past.at != getattr(variants.VALUES[values], "of", "")]
    for past in ((), tuple(pasts)):
        settings = variants.named(values, "softmax", "qkv", "none", start=kind, window=3, past=past)
        built = away(variants.model(settings))
        hidden = torch.randn(2, 7, settings.width, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
        count = torch.tensor([3, 0])
        for sizes in (None, [2, 1, 4]):
            found = through_layers(built, hidden, count, sizes)
            close(found[0, 3:], through_layers(built, hidden[:1, 3:])[0])
            close(found[1], through_layers(built, hidden[1:])[0])


@torch.no_grad()
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "choices", [{}, {"shift": "qkv", "window": 4, "n_kv_heads": 1}, {"parameters": "gate"}], ids=str
)
def test_an_attention_with_pads_beams_and_documents(kind, choices):
    module = kv_cases.attention(start=kind, **choices)
    assert kv_cases.padded_gap(module, [4, 2, 0, 7], [3, 1, 3]) < CLOSE
    assert kv_cases.beam_gap(module, [2, 3], [2, 0, 2, 1]) < CLOSE
    assert kv_cases.chunked_gap(module, [1, 2, 3], KVCache(capacity=6)) < CLOSE
    gap = kv_cases.packed_gap(module, [2, 3, 1], pads=2)
    assert gap > APART if kind == "carried" else gap < CLOSE
    x, documents = kv_cases.tokens(2, 6), torch.tensor([[1] * 3 + [2] * 3] * 2)
    rows, pads = torch.tensor([3, 5]), torch.tensor([0, 4])
    whole, scored = module.weights(x, padding=pads), module.weights(x, query_index=rows, padding=pads)
    close(scored[:, :, 0], whole[[0, 1], :, [3, 5]])
    whole = module.weights(x, segment_ids=documents)
    close(module.weights(x, query_index=rows, segment_ids=documents)[:, :, 0], whole[[0, 1], :, [3, 5]])
    assert (whole[:, :, 3:, :3] == 0).all()


@torch.no_grad()
@pytest.mark.parametrize("values", ["vanilla", "resformer-learnt", "svformer", "neutreno-shifted"])
def test_stacked_models_with_learnt_starts_equal_each_by_itself(values):
    settings = variants.named(values, "softmax", "qkv", n_kv_heads=2, start="learnt", window=3)
    models = [away(variants.model(settings, seed), seed) for seed in range(3)]
    tokens, rows = variants.tokens(6, 7).view(3, 2, 7), torch.tensor([[6, 2], [1, 5], [0, 3]])
    expected = torch.stack([built(tokens[n], rows[n]) for n, built in enumerate(models)])
    parameters = stacked.stack(models)
    close(stacked.logits(settings, parameters, tokens, rows), expected)
    close(stacked.logits_by_vmap(models[0], parameters, tokens, rows), expected)
    close(stacked.unstack(settings, parameters, 2).double()(tokens[2], rows[2]), expected[2])


@torch.no_grad()
def test_a_past_with_a_start_of_each_model_is_that_of_each():
    draw = torch.Generator().manual_seed(0)
    x, start = (torch.randn(*shape, dtype=torch.float64, generator=draw) for shape in ((4, 5, 3), (2, 3)))
    weight, past = torch.randn(3, 4, dtype=torch.float64, generator=draw), CANON["A"][0]
    whole = past_module.begun(past, weight, x, "learnt", start)
    close(whole, torch.cat([past_module.begun(past, weight, x[2 * n : 2 * n + 2], "learnt", start[n]) for n in (0, 1)]))


@torch.no_grad()
@pytest.mark.parametrize("heads", [2, 3])
def test_before_first_is_the_shift_of_a_row_that_goes_on_to_the_left(heads):
    draw = torch.Generator().manual_seed(heads)
    x, start = torch.randn(2, 5, heads, 2, generator=draw), torch.randn(2, heads, 2, generator=draw)
    for window in (1, 2, 3, 4):
        weights = torch.randn(2, heads, window, generator=draw)
        expected = shift_mix(x, weights, previous=start[:, None].expand(2, 3, heads, 2))
        found = shift_mix(x, weights) + before_first(start, weights, torch.arange(5)[None])
        torch.testing.assert_close(found, expected)
        alone = before_first(start[0], weights[0], torch.arange(5)[None])
        torch.testing.assert_close(alone[0], (expected - shift_mix(x, weights))[0])


@torch.no_grad()
def test_a_replaced_attention_function_sees_the_starts():
    built, tokens = model("learnt", "qkv"), variants.tokens(2, 6)
    expected = built(tokens)
    with replaced(built, full_attention):
        close(built(tokens), expected)


def late(start, weights, ages):
    """The mistake: the vector stands one place before the document and no further back."""
    return before_first(start, weights, ages) * (ages == 0)[..., None, None]


def forgetful(start, weights, ages):
    """The mistake: every chunk starts a document."""
    return before_first(start, weights, ages - ages[:, :1])


@torch.no_grad()
@pytest.mark.parametrize("name", ["window 3", "canon A"])
@pytest.mark.parametrize("wrong", [late, forgetful])
def test_the_checks_reject_a_wrong_start(wrong, name, monkeypatch):
    built, tokens = model("learnt", name), variants.tokens(1, 6)

    def gaps():
        expected = torch.from_numpy(start_loops.logits(built, tokens[0].tolist(), [0] * 6))
        return [float((found[0] - expected).abs().max()) for found in (built(tokens), in_parts(built, tokens, [2, 4]))]

    assert max(gaps()) < CLOSE
    for module in (formed, past_module):
        monkeypatch.setattr(module, "before_first", wrong)
    assert max(gaps()) > APART


def test_only_a_shift_that_starts_otherwise_is_not_plain():
    assert ModelConfig().start == "zero" and ModelConfig.model_validate({"vocab": 5}).plain
    for kind in KINDS[1:]:
        assert not ModelConfig(start=kind).plain and not ModelConfig(start=kind, shift="k").plain
        assert ModelConfig(start=kind, shift="none").plain and ModelConfig(start=kind, window=1).plain
        names = InductionModel(ModelConfig(start=kind, shift="none")).state_dict().keys()
        assert names == InductionModel(ModelConfig(shift="none")).state_dict().keys()
        with pytest.raises(ValueError, match="place 'half' needs start 'zero', got"):
            ModelConfig.checked({"place": "half", "shift": "none", "start": kind})


def test_an_attention_shows_its_start():
    assert "start='learnt'" in repr(KVShiftAttention(8, 2, start="learnt"))
    assert "start=" not in repr(KVShiftAttention(8, 2))
    held = KVShiftAttention(8, 4, n_kv_heads=2, shift="qkv", start="learnt").start
    assert {name: tuple(p.shape) for name, p in held.items()} == {"key": (2, 2), "value": (2, 2), "query": (4, 2)}
    assert not any(p.any() for p in held.values())
    for choices in ({"start": "learnt", "window": 1}, {"start": "learnt", "shift": "none"}, {"start": "carried"}):
        assert not KVShiftAttention(8, 4, **choices).start
