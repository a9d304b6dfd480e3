"""Own models generate through the Razor cache: the logits are those of the whole text under the masked computation."""

from dataclasses import replace
from fractions import Fraction

import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from dynamics.model.attention_function import replaced
from dynamics.model.cache import KVCache
from dynamics.model.config import ModelConfig
from dynamics.model.decoder import InductionModel
from dynamics.model.generation import greedy
from dynamics.razor.cache import RazorCache
from dynamics.razor.masked import MaskedAttention
from dynamics.razor.plan import RazorPlan
from tests.dynamics.razor.cases import TOLERANCE, plans
from tests.dynamics.refusal import refused

VOCAB = 13
models = st.builds(
    lambda position, shift, window, parameters, seed: model(
        position=position, shift=shift, window=window, parameters=parameters if window == 2 else "free", seed=seed
    ),
    st.sampled_from(["rope", "alibi", "none"]),
    st.sampled_from(["none", "k", "v", "kv", "qkv"]),
    st.integers(1, 3),
    st.sampled_from(["free", "gate"]),
    st.integers(0, 3),
)


def model(seed=0, **changes):
    """Two layers whose logits are steep enough that a wrong cache shows."""
    config = {"vocab": VOCAB, "width": 16, "n_heads": 4, "n_kv_heads": 2, "n_layers": 2, "mlp_width": 8}
    network = InductionModel(ModelConfig(**config | changes), torch.Generator().manual_seed(seed)).double()
    with torch.no_grad():
        for block in network.blocks:
            block.attention.q_proj.weight *= 4
            block.attention.k_proj.weight *= 2
    return network


def text(length, batch=2):
    return torch.randint(VOCAB, (batch, length), generator=torch.Generator().manual_seed(5))


def allowed(network, plan):
    """The plan with a compensation that this model has."""
    wrong = plan.compensation == "alibi" and network.config.position != "alibi"
    return replace(plan, compensation="mean") if wrong else plan


PLAN = RazorPlan(
    4, 2, (frozenset({0}), frozenset()), sinks=1, buffer=3, share=Fraction(0), compensation="centred", prompt=8
)


def generation_gap(network, function, length, count, chunk, cache=None):
    """Largest difference of the logits at each new token and those of one pass over the whole text."""
    words = text(length)
    found, logits = greedy(network, words, count, cache, chunk)
    assert found.shape == (2, count) and logits.shape == (2, count, VOCAB)
    with torch.no_grad(), replaced(network, function):
        expected = network(torch.cat([words, found], dim=1))[:, length - 1 : -1]
    return float((logits - expected).abs().max())


@settings(max_examples=25)
@given(models, plans(n_layers=2, n_heads=4, n_kv_heads=2), st.integers(1, 12), st.integers(1, 8), st.integers(1, 12))
def test_generation_equals_the_masked_computation_of_the_whole_text(network, plan, length, count, chunk):
    plan = allowed(network, plan)
    assert generation_gap(network, MaskedAttention(plan), length, count, chunk, RazorCache(plan)) < TOLERANCE


def test_cache_and_function_that_have_seen_different_texts_are_refused():
    network = model()
    cache, caches = RazorCache(PLAN), [KVCache() for _ in network.blocks]
    with torch.no_grad(), replaced(network, cache):
        network(text(5), caches=caches)
        for wrong in (None, [KVCache() for _ in network.blocks]):
            refused("has seen 5 tokens, the cache of its layer 0", network, text(1), caches=wrong)
        network(text(1), caches=caches)
    refused("has seen 6 tokens, the cache of its layer 0", greedy, network, text(3), 1, cache)
