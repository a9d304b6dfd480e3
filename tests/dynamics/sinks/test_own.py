"""Models of this project: the weights they show, what they may hand over, learned positions; and memory."""

import gc
import weakref
from collections import Counter

import numpy as np
import pytest
import torch
from torch import nn
from torch.utils._python_dispatch import TorchDispatchMode

from dynamics.model import attention_function
from dynamics.model.config import ModelConfig
from dynamics.model.decoder import InductionModel, build
from dynamics.model.softmax import probabilities
from dynamics.sinks import measured
from dynamics.sinks.attention import Seen, reading
from dynamics.sinks.intervention import Mask, Swap, intervene
from dynamics.sinks.measured import measure
from tests.dynamics.sinks.test_measured import near, text

SHAPES = {
    "kv": {"position": "rope"},
    "alibi": {"position": "alibi", "shift": "none", "n_kv_heads": 2},
    "none": {"position": "none", "window": 3},
}


def own(seed=0, kind=InductionModel, **changes):
    """A small model of ours in double precision."""
    config = ModelConfig(**({"vocab": 64, "width": 16, "n_heads": 4, "n_layers": 2, "mlp_width": 24} | changes))
    draw = torch.Generator().manual_seed(seed)
    model = build(config, draw) if kind is InductionModel else kind(config, draw)
    return model.double().eval()


@pytest.mark.parametrize("shape", SHAPES)
def test_what_heads_of_our_models_give_is_in_the_weights_that_they_show(shape):
    model, row = own(**SHAPES[shape]), text(11)
    ids = torch.from_numpy(row)[None]
    with torch.no_grad():
        shown = [model.attention_weights(ids, torch.tensor([place])) for place in range(11)]
    attention = np.stack([torch.cat(weights).numpy() for weights in shown], axis=2)  # (layers, heads, query, key)
    found = measure(model, row, 11)
    near(found.heads.importance, attention.mean(2))
    near(found.heads.sink_share, np.zeros((2, 4)))
    assert found.causal and (found.heads.needed_range > 0).any()


def test_states_of_our_models_are_those_that_leave_their_blocks():
    model, row = own(), text(11)
    with torch.no_grad():
        hidden = model.embed(torch.from_numpy(row)[None])
        for layer, block in enumerate(model.blocks):
            v = block.attention.v_proj(block.attention_norm(hidden))[0].unflatten(-1, (4, -1))
            beta = block.attention.beta_mix()
            v = beta[:, :1] * v + beta[:, 1:] * torch.cat([torch.zeros_like(v[:1]), v[:-1]])
            hidden = block(hidden)
            found = measure(model, row, 11, layers=[layer]).states
            near(found.state_norms[0], hidden[0].norm(dim=-1))
            near(found.value_norms[0], v.flatten(1).norm(dim=-1))


@pytest.mark.parametrize("causal", [True, False])
@pytest.mark.parametrize("window", [None, 4])
@pytest.mark.parametrize("slopes", [None, torch.tensor([0.5, 0.25, 0.1, 0.05])])
def test_the_function_reads_as_the_models_of_ours_do(causal, window, slopes):
    """Sinks, slopes, no causality: the outputs and the weights shown are those of `dynamics.model.softmax`."""
    draw = torch.Generator().manual_seed(1)
    query, key, value = (torch.randn(1, heads, 9, 6, generator=draw).double() for heads in (4, 2, 2))
    sinks = torch.randn(4, generator=draw).double()
    distance = torch.arange(9)[:, None] - torch.arange(9)
    bias = torch.zeros(9, 9).double() if slopes is None else -slopes[:, None, None].double() * distance.abs()
    hidden = (distance < 0) & causal | (distance.abs() >= (window or 9))
    weights = probabilities(query, key, bias.masked_fill(hidden, -torch.inf), 0.4, sinks)
    shown, seen = torch.zeros(4, 9, 9).double(), Seen()

    def visit(layer, heads, start, block):
        shown[heads, start : start + block.shape[1], : block.shape[2]] = block

    function = reading(visit, seen, block=40)
    out = function(0, query, key, value, scale=0.4, slopes=slopes, sinks=sinks, causal=causal, window=window)
    near(shown, weights[0])
    near(out, weights @ value.repeat_interleave(2, 1))
    assert seen.causal is causal and seen.sinks


def test_models_that_hand_over_sinks_and_are_not_causal_are_read(monkeypatch):
    """A model of ours whose function is told more: rows lack the sink's share, and the loss is of the token itself."""
    model, row = own(position="none"), text(11)
    replaced = attention_function.replaced
    sinks = torch.tensor([-1.0, 0.0, 1.0, 2.0]).double()

    def told(model, function):
        return replaced(model, lambda *args, **named: function(*args, sinks=sinks, causal=False, **named))

    monkeypatch.setattr(attention_function, "replaced", told)
    found = measure(model, row, 11)
    assert not found.causal and (found.heads.sink_share > 0.01).all()
    near(found.heads.importance.sum(-1) + found.heads.sink_share, np.ones((2, 4)))
    effect = intervene(model, row, Mask(10), 11)
    assert np.isfinite(effect.weight_before).all() and effect.loss_before != effect.loss_after


class Placed(InductionModel):
    """A model of ours that adds learned positions to its embeddings."""

    def __init__(self, config, generator):
        super().__init__(config, generator)
        self.places = nn.Parameter(torch.randn(32, config.width, generator=generator))

    def embed(self, tokens):
        return super().embed(tokens) + self.places[: tokens.shape[1]]


def test_a_swap_finds_learned_positions_in_a_model_of_ours():
    model, row = own(kind=Placed, position="none"), text(11)
    effect = intervene(model, row, Swap(1, 7), 11)
    with torch.no_grad():
        model.places[[1, 7]] = model.places[[7, 1]]
        logits = model(torch.from_numpy(row)[None])[0]
    expected = nn.functional.cross_entropy(logits[:-1], torch.from_numpy(row[1:]))
    assert effect.kind == "positions"
    near(effect.loss_after, [expected.item()])
    assert abs(effect.loss_after[0] - effect.loss_before[0]) > 1e-3


# --- memory -----------------------------------------------------------------------------------------------------------


class Alive(TorchDispatchMode):
    """Bytes of the storages of all tensors made within that are alive: their peak, and the largest of them."""

    def __init__(self):
        super().__init__()
        self.held, self.sizes, self.peak, self.largest = Counter(), {}, 0, 0

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        out = function(*args, **(kwargs or {}))
        for made in out if isinstance(out, tuple | list) else [out]:
            if isinstance(made, torch.Tensor):
                storage = made.untyped_storage()
                place, size = storage.data_ptr(), storage.nbytes()
                self.held[place] += 1
                self.sizes[place] = size
                weakref.finalize(made, self.held.subtract, [place])
                self.peak = max(self.peak, sum(self.sizes[at] for at, number in self.held.items() if number))
                self.largest = max(self.largest, size)
        return out


def alive(model, tokens, window, change=None):
    gc.collect()
    with Alive() as counted:
        if change is None:
            measure(model, tokens, window)
        else:
            intervene(model, tokens, change, window)
    return counted


def test_memory_does_not_grow_with_the_text_and_no_attention_is_whole(monkeypatch):
    model, window = own(vocab=64, width=16, n_heads=4), 48
    reading_ = measured.reading
    monkeypatch.setattr(measured, "reading", lambda *args: reading_(*args, block=6 * window))
    short, long = (alive(model, text(times * window), window) for times in (1, 8))
    assert long.peak <= 1.02 * short.peak
    # bytes of double precision, of half the attention of a layer
    assert short.largest == long.largest < 8 * 4 * window * window / 2
    for change in (Mask(3), Swap(1, 2)):
        short_, long_ = (alive(model, text(times * window), window, change).peak for times in (1, 8))
        # all tokens of the text are one tensor
        assert long_ <= 1.02 * short_ + 8 * 7 * window
    kept = []
    add = measured.Received.add

    def keeping(received, heads, start, weights):
        kept.append(weights)
        add(received, heads, start, weights)

    monkeypatch.setattr(measured.Received, "add", keeping)
    assert alive(model, text(8 * window), window).peak > 2 * long.peak
