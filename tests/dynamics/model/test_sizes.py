"""Counted weights, cached numbers and operations against the modules, their caches and torch's own counter."""


import pytest
import torch
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils.flop_counter import FlopCounterMode

from dynamics.model import sizes
from dynamics.model.config import ModelConfig
from dynamics.model.decoder import InductionModel
from tests.dynamics.model import variants
from tests.dynamics.refusal import refused
from tests.shares import one_in

LENGTH = 6
# What a start adds is a product of matrices as it is written here, and is not counted.
CONFIGS = {name: config.but(start="zero") for name, config in variants.CONFIGS.items()}


def kept(model, length, capacity):
    """Numbers in all storages that the caches of a model reach after `length` tokens of one text."""
    caches, held = variants.caches(model, capacity), {}
    with torch.no_grad():
        for part in variants.tokens(1, length).split([length - 2, 1, 1], dim=1):
            model(part, caches=caches)
    for cache in caches:
        for tensor in (*vars(cache).values(), *cache._raw.values()):
            if isinstance(tensor, torch.Tensor):
                held[tensor.untyped_storage().data_ptr()] = tensor.untyped_storage().nbytes() // tensor.itemsize
    return sum(held.values())


@pytest.mark.parametrize("name", one_in(3, CONFIGS))
def test_caches_keep_as_much_as_is_said(name):
    model, size = InductionModel(CONFIGS[name]), sizes.cache_size(CONFIGS[name])
    assert (kept(model, 5, None), kept(model, 9, 9)) == (size.bytes(5, itemsize=1), size.bytes(9, itemsize=1))


# The logit of a sink is one more key to torch's kernel.
@pytest.mark.parametrize("name", one_in(3, (n for n, c in CONFIGS.items() if c.weights not in ("plus_one", "sink"))))
def test_products_of_matrices_take_as_many_operations_as_torch_counts(name):
    model, tokens = InductionModel(CONFIGS[name]), variants.tokens(1, LENGTH)
    with FlopCounterMode(display=False) as counter, sdpa_kernel(SDPBackend.MATH), torch.no_grad():
        model(tokens)
    assert counter.get_total_flops() == LENGTH * sizes.operations(CONFIGS[name], LENGTH).matmuls


@pytest.mark.parametrize("name", one_in(3, CONFIGS, 1))
def test_weights_are_those_of_the_module(name):
    assert sizes.parameters(CONFIGS[name]) == sum(p.numel() for p in InductionModel(CONFIGS[name]).parameters())


def of_paper(**more):
    """12 heads of 64 channels in 12 layers, as in KV shifting attention, Appendices H and J."""
    sizes_of = {"vocab": 50304, "width": 768, "n_heads": 12, "n_layers": 12, "mlp_width": 2048, "shift": "none"}
    return ModelConfig.checked(sizes_of | more)


def test_shared_keys_halve_the_cache_and_a_shift_costs_four_operations_a_channel():
    shared = {"kind": "shared", "anchors": list(range(0, 12, 2)), "order": "shifted", "keys": True}
    assert 2 * sizes.cache_size(of_paper(values=shared)).per_token == sizes.cache_size(of_paper()).per_token
    shifted, plain = sizes.operations(of_paper(shift="kv"), 512), sizes.operations(of_paper(), 512)
    assert shifted._replace(mixing=0) == plain and shifted.mixing == 12 * 2 * 768 * 4
    assert sizes.parameters(of_paper(shift="kv")) - sizes.parameters(of_paper()) == 12 * 4 * 12


def test_what_keeps_no_cache_or_is_not_counted_is_refused():
    placed = ModelConfig.checked({"place": "half", "shift": "none"})
    for config in (placed, ModelConfig(causal=False)):
        refused("keeps no cache", sizes.cache_size, config)
    refused("'half' are not counted", sizes.operations, placed, 8)
    assert sizes.parameters(placed) == sizes.parameters(ModelConfig(shift="none"))
