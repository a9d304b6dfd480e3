"""How KV-shift attention starts, and what its parameters mean."""

import math

import pytest
import torch

from dynamics.model.attention import KVShiftAttention
from dynamics.model.config import ModelConfig
from tests.dynamics.refusal import refused


@pytest.mark.parametrize("window", [1, 2, 4])
@pytest.mark.parametrize("shift", ["none", "k", "v", "kv", "qkv"])
def test_attention_parameters_start_as_in_the_paper(window, shift):
    generator = torch.Generator().manual_seed(3)
    module = KVShiftAttention(24, 6, n_kv_heads=3, window=window, shift=shift, generator=generator)
    held = {name: getattr(module, name) for name in ("alpha", "beta", "gamma")}
    assert [tensor is not None for tensor in held.values()] == [letter in shift for letter in "kvq"]
    for name, tensor in held.items():
        heads = 6 if name == "gamma" else 3
        mixture = getattr(module, f"{name}_mix")()
        assert mixture.shape == (heads, window)
        if tensor is None:
            assert mixture.tolist() == [[1.0] + [0.0] * (window - 1)] * heads
        else:
            assert tensor.shape == (heads, window) and torch.allclose(tensor.sum(1), torch.ones(heads))
            assert bool(((tensor[:, :-1] >= 0) & (tensor[:, :-1] < 1)).all())


def test_attention_gate_sums_to_one_and_clip_stays_in_the_unit_interval():
    gate, clip = (KVShiftAttention(8, 2, parameters=kind) for kind in ("gate", "clip"))
    with torch.no_grad():
        gate.alpha.copy_(torch.tensor([[200.0], [-3.0]]))
        clip.beta.copy_(torch.tensor([[1.5, -0.5], [0.25, 0.75]]))
    assert torch.allclose(gate.alpha_mix().sum(1), torch.ones(2))
    assert gate.alpha_mix()[1, 0].item() == pytest.approx(1 / (1 + math.exp(3.0)))
    assert clip.beta_mix().tolist() == [[1.0, 0.0], [0.25, 0.75]]


def test_attention_initial_gate_is_uniform_on_the_unit_interval():
    module = KVShiftAttention(4000, 2000, parameters="gate", generator=torch.Generator().manual_seed(0))
    drawn = module.alpha_mix()[:, 0].sort().values.detach()
    uniform = torch.arange(1, 2001) / 2000
    assert (drawn - uniform).abs().max().item() < 1.63 / math.sqrt(2000)  # Kolmogorov, 1 %


def test_repr_says_what_an_attention_is():
    told = repr(KVShiftAttention(8, 2, window=3, sliding_window=5, rope_base=500.0, start="learnt", scale=0.3))
    for part in ("n_heads=2", "n_kv_heads=2", "head_dim=4", "shift='kv'", "window=3", "parameters='free'",
                 "position='rope'", "rope_base=500.0", "sliding_window=5", "start='learnt'", "scale=0.3"):  # fmt: skip
        assert part in told, part
    told = repr(KVShiftAttention(8, 2, shift="none", position="alibi"))
    assert "shift='none', position='alibi', scale=0.5" in told


def test_only_what_is_shifted_has_a_learnt_start():
    held = KVShiftAttention(8, 4, n_kv_heads=2, shift="qkv", start="learnt").start
    assert {name: tuple(p.shape) for name, p in held.items()} == {"key": (2, 2), "value": (2, 2), "query": (4, 2)}
    for choices in ({"start": "learnt", "window": 1}, {"start": "learnt", "shift": "none"}, {"start": "carried"}):
        assert not KVShiftAttention(8, 4, **choices).start


def test_only_a_shift_that_starts_otherwise_is_not_plain():
    assert ModelConfig().start == "zero" and ModelConfig.model_validate({"vocab": 5}).plain
    for kind in ("carried", "learnt"):
        assert not ModelConfig(start=kind, shift="k").plain
        assert ModelConfig(start=kind, shift="none").plain and ModelConfig(start=kind, window=1).plain


def biased(module):
    module.v_proj = torch.nn.Linear(8, 8)


def hooked(module):
    module.k_proj.register_forward_hook(lambda *_: None)


def wrapped(module):
    module.q_proj = torch.nn.Sequential(module.q_proj)


@pytest.mark.parametrize(("change", "name"), [(biased, "v_proj"), (hooked, "k_proj"), (wrapped, "q_proj")])
def test_a_projection_that_would_do_more_than_multiply_is_not_silently_read(change, name):
    module = KVShiftAttention(8, 2)
    change(module)
    refused(f"{name} is read, not called", module, torch.zeros(1, 3, 8))
