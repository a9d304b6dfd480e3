"""Models of this project: the weights they show, what they may hand over, learned positions; and memory."""

import weakref
from collections import Counter
from functools import partial

import numpy as np
import pytest
import torch
from torch.nn import functional as F
from torch.utils._python_dispatch import TorchDispatchMode

from dynamics.model.attention_function import replaced
from dynamics.model.config import ModelConfig
from dynamics.model.decoder import build
from dynamics.sinks import measured
from dynamics.sinks.intervention import Hide, Mask, Replace, Swap, intervene
from dynamics.sinks.measured import measure
from tests.dynamics.hf.test_attention import windowed
from tests.dynamics.model import variants
from tests.dynamics.refusal import refused
from tests.dynamics.sinks.test_measured import near, text


def own(seed=0, **changes):
    """A small model of ours in double precision."""
    config = ModelConfig(**({"vocab": 64, "width": 16, "n_heads": 4, "n_layers": 2, "mlp_width": 24} | changes))
    return build(config, torch.Generator().manual_seed(seed)).double().eval()


def shown(model, row):
    """Attention (layers, heads, query, key) that a model of ours shows, one query after another."""
    with torch.no_grad():
        each = [model.attention_weights(row[None], torch.tensor([place])) for place in range(len(row))]
    return np.stack([torch.cat(weights).numpy() for weights in each], axis=2)


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


VARIANTS = {
    "a residual of values, learnt sinks and positions": variants.named("resformer", "sink", "kv", "learned"),
    "shared values, softmax plus one": variants.named("svformer", "plus_one", "none", "alibi", n_kv_heads=2),
    "a mean over depth, gates": variants.named("denseformer", "gate", "kv", "rope"),
    "every token sees all, by distance": variants.named("neutreno", "softmax", "none", "alibi", causal=False),
    "all, sinks, an output matrix": variants.named("identity", "sink", "none", "rope", causal=False, tied=False),
}


@pytest.mark.parametrize("config", VARIANTS.values(), ids=VARIANTS)
def test_variants_of_our_models_are_read_as_they_are_told(config):
    """Weights are those that the model shows, the loss is that of its logits."""
    model, row = variants.model(config), variants.tokens(1, 11)[0]
    with torch.no_grad():
        attention = shown(model, row)
        logits = model(row[None])[0]
    found = measure(model, row.numpy(), 11)
    near(found.heads.importance, attention.mean(2))
    near(found.heads.sink_share, 1 - attention.sum(3).mean(2))
    assert found.causal == config.causal
    assert (found.heads.sink_share > 1e-4).all() == (config.weights in ("sink", "plus_one"))
    effect = intervene(model, row.numpy(), Mask(5), 11)
    ahead = int(config.causal)
    near(effect.loss_before, [F.cross_entropy(logits[: 11 - ahead], row[ahead:]).item()])
    rows = slice(6, None) if config.causal else [place for place in range(11) if place != 5]
    near(effect.weight_before[..., 0], attention[:, :, rows, 5].mean(2))
    assert abs(effect.loss_after[0] - effect.loss_before[0]) > 1e-6


@pytest.mark.parametrize("position", ["alibi", "rope"])
@pytest.mark.parametrize("source", ["cross-layer", "cross-layer-previous"])
@pytest.mark.parametrize("change", [Mask(4), Hide(4)])
def test_a_token_with_keys_of_two_layers_is_given_what_both_are(source, position, change):
    """Attention over both layers' keys written out, which is the model's own, where nothing is changed."""
    model, given = variants.model(variants.named(source, "sink", position=position, n_kv_heads=2)), []
    row, alone = variants.tokens(1, 11)[0], (4, torch.ones(4, dtype=torch.bool), isinstance(change, Hide))

    def by_hand(layer, query, key, value, cross_layer=False, alone=None, **more):
        places = torch.eye(11).double().repeat(1 + cross_layer, 1).expand(1, 2, -1, -1)
        given.append(windowed(layer, query, key, places, alone=alone, **more)[0].mean(1))
        return windowed(layer, query, key, value, alone=alone, **more)

    def loss():
        return F.cross_entropy(model(row[None])[0, :-1], row[1:]).item()

    found, effect = measure(model, row.numpy(), 11), intervene(model, row.numpy(), change, 11)
    with torch.no_grad():
        near(effect.loss_before, [loss()])
        with replaced(model, by_hand):
            near(effect.loss_before, [loss()])
        near(found.heads.importance, torch.stack(given))
        with replaced(model, partial(by_hand, alone=alone)):
            near(effect.loss_after, [loss()])
    assert found.states.value_norms.shape[1] == 11


@pytest.mark.parametrize("weights", ["differential", "selective"])
def test_what_is_more_than_one_softmax_is_refused_with_the_reason(weights):
    model = variants.model(variants.of_kind(weights))
    refused(f"^{weights} attention is more than one softmax", measure, model, variants.tokens(1, 11)[0].numpy(), 11)


@pytest.mark.parametrize(("change", "rows"), [(Swap(1, 7), [7, 1]), (Replace(1, 7), [7, 7])])
@pytest.mark.parametrize("more", [{}, {"values": "denseformer"}, {"past": variants.PASTS["smear"], "shift": "none"}])
def test_learnt_positions_are_moved_in_all_that_our_models_read(more, change, rows):
    model, row = variants.model(variants.named(position="learned", **more)), variants.tokens(1, 11)[0]
    table = model.positions
    effect = intervene(model, row.numpy(), change, 11)
    assert model.positions is table
    with torch.no_grad():
        model.positions[[1, 7]] = model.positions[rows]
        expected = F.cross_entropy(model(row[None])[0, :-1], row[1:])
    near(effect.loss_after, [expected.item()])
    assert abs(effect.loss_after[0] - effect.loss_before[0]) > 1e-3
    refused(r"^a window of 17 tokens is beyond the 16 positions of the model", measure, model, np.zeros(40, int), 17)


# --- memory -----------------------------------------------------------------------------------------------------------


class Alive(TorchDispatchMode):
    """Bytes of the storages of all tensors made within that are alive: their peak, and the largest of them."""

    def __init__(self):
        super().__init__()
        self.held, self.now, self.peak, self.largest = Counter(), 0, 0, 0

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        out = function(*args, **(kwargs or {}))
        for made in out if isinstance(out, tuple | list) else [out]:
            if isinstance(made, torch.Tensor):
                storage = made.untyped_storage()
                place, size = storage.data_ptr(), storage.nbytes()
                self.now += 0 if self.held[place] else size
                self.held[place] += 1
                weakref.finalize(made, self.gone, place, size)
                self.peak, self.largest = max(self.peak, self.now), max(self.largest, size)
        return out

    def gone(self, place, size):
        self.held[place] -= 1
        self.now -= 0 if self.held[place] else size


def alive(model, tokens, window, change=None):
    with Alive() as counted:
        if change is None:
            measure(model, tokens, window)
        else:
            intervene(model, tokens, change, window)
    return counted


def test_memory_does_not_grow_with_the_text_and_no_attention_is_whole(monkeypatch):
    model, window = own(), 16
    reading_ = measured.reading
    monkeypatch.setattr(measured, "reading", lambda *args: reading_(*args, block=6 * window))
    short, long = (alive(model, text(times * window), window) for times in (1, 3))
    assert long.peak <= 1.02 * short.peak
    # bytes of double precision, of half the attention of a layer
    assert short.largest == long.largest < 8 * 4 * window * window / 2
    for change in (Mask(3), Swap(1, 2)):
        short_, long_ = (alive(model, text(times * window), window, change).peak for times in (1, 3))
        # all tokens of the text are one tensor
        assert long_ <= 1.02 * short_ + 8 * 2 * window


def test_a_sink_that_takes_all_weight_leaves_no_entropy_and_needs_no_range():
    model = variants.model(variants.named(weights="sink", n_layers=1)).float()
    model.blocks[0].attention.sinks.data.fill_(150.0)
    found = measure(model, variants.tokens(1, 12)[0].numpy(), 12)
    assert np.isnan(found.heads.entropy).all() and (found.heads.sink_share == 1).all()
    assert (found.heads.needed_range == 0).all()
