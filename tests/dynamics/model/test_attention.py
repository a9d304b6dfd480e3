"""KV-shift attention against its definition, its gradients, half precision; the rest is in test_variants."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from dynamics.model.attention import KVShiftAttention
from dynamics.model.cache import KVCache
from dynamics.model.config import ModelConfig
from dynamics.model.positions import Layout
from dynamics.model.shift import document_runs
from tests.dynamics.model import variants
from tests.dynamics.model.test_variants import close
from tests.dynamics.refusal import refused


def attention(seed=0, **choices):
    """A float64 attention of width 8 with coefficients of either sign."""
    generator = torch.Generator().manual_seed(seed)
    module = KVShiftAttention(8, choices.pop("n_heads", 2), generator=generator, **choices).double()
    with torch.no_grad():
        for name, parameter in module.named_parameters():
            scale = 1.0 if name in ("alpha", "beta", "gamma") else 0.5
            parameter.normal_(0.0, scale, generator=generator)
    return module


def random_tokens(batch, length):
    return torch.randn(batch, length, 8, dtype=torch.float64, generator=torch.Generator().manual_seed(1))


@st.composite
def attentions(draw):
    window = draw(st.integers(1, 4))
    kinds = ["free", "clip", "gate"] if window == 2 else ["free", "clip"]
    kv_heads = draw(st.integers(1, 2))
    return attention(
        draw(st.integers(0, 10_000)),
        n_heads=kv_heads * draw(st.integers(1, 3)),
        n_kv_heads=kv_heads,
        head_dim=draw(st.sampled_from([2, 4])),
        window=window,
        shift=draw(st.sampled_from(["none", "k", "v", "kv", "qkv"])),
        parameters=draw(st.sampled_from(kinds)),
        position=draw(st.sampled_from(["rope", "alibi", "none"])),
        sliding_window=draw(st.none() | st.integers(1, 4)),
        start=draw(st.sampled_from(["zero", "carried", "learnt"])),
    )


def filled(batch=2, capacity=None):
    cache = KVCache(capacity)
    with torch.no_grad():
        attention()(random_tokens(batch, 3), cache=cache)
    return cache


@given(attentions(), st.integers(1, 4))
def test_attention_equals_its_equations_head_by_head(module, length):
    x, names = random_tokens(1, length), ("n_heads", "n_kv_heads", "position")
    same = {name: getattr(module, name) for name in names}
    config = ModelConfig(width=module.n_heads * module.head_dim, start=module.start_kind, **same)
    own = dict(module.named_parameters())
    own |= {name: getattr(module, f"{name}_mix")() for name in ("alpha", "beta", "gamma")}
    own, kept = {name: tensor.detach().numpy() for name, tensor in own.items()}, []
    out = variants.attention(config, 0, own, x[0].numpy(), np.zeros(length), kept, module.sliding_window)
    close(module(x)[0], torch.from_numpy(out), 1e-12)
    close(module.weights(x)[0], torch.from_numpy(np.stack(kept[0][-1])), 1e-12)


def test_attention_in_half_precision_stays_near_double_and_ignores_what_pads_hold():
    module, x, pads = attention(n_heads=4, n_kv_heads=2, position="alibi"), random_tokens(2, 6), torch.tensor([2, 0])
    expected = module(x, padding=pads)
    x[0, :2] = torch.nan
    out = module.bfloat16()(x.bfloat16(), padding=pads)
    assert out.dtype == torch.bfloat16
    close(out.double(), expected, 0.05 * expected.abs().max().item())


@pytest.mark.filterwarnings("ignore:.torch.jit.script. is deprecated:DeprecationWarning")
@pytest.mark.parametrize(
    "choices",
    [{"shift": "qkv", "window": 3}, {"position": "alibi", "parameters": "gate"}],
)
@pytest.mark.parametrize("query_index", [None, torch.tensor([2])], ids=["every token", "one row"])
def test_attention_gradients_are_right_backward_and_forward(choices, query_index):
    module, x = attention(n_kv_heads=1, **choices), random_tokens(1, 3).requires_grad_()
    names = [name for name, _ in module.named_parameters()]

    def out(x, *parameters):
        by_name = dict(zip(names, parameters, strict=True))
        return torch.func.functional_call(module, by_name, (x,), {"query_index": query_index})

    assert torch.autograd.gradcheck(out, (x, *module.parameters()), check_forward_ad=True, fast_mode=True)


def test_cache_refused_chunk_leaves_it_unchanged():
    cache, module = filled(capacity=4), attention()
    key, raw = cache.key.clone(), cache.previous("key").clone()
    with torch.no_grad():
        refused("do not fit", module, random_tokens(2, 2), cache=cache)
    assert len(cache) == 3 and torch.equal(cache.key, key) and torch.equal(cache.previous("key"), raw)


def test_positions_restart_at_each_document_and_after_pads():
    ids, padding = torch.tensor([[5, 5, 5, 1, 1, 5]]), torch.tensor([1])
    runs = document_runs(ids, padding)
    assert Layout(0, 6, ids.device, None, runs, padding).positions().tolist() == [[0, 0, 1, 0, 1, 0]]
    assert Layout(4, 2, ids.device, None, None, torch.tensor([3])).positions().tolist() == [[1, 2]]
