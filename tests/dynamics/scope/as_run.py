"""Tiny models of every family as they run: their own attentions, in float32 and bfloat16, over searched contexts."""

import copy
import math
from typing import NamedTuple

import torch

from dynamics.scope.heads import layer_scopes, settings
from dynamics.scope.rounded import rounded_logits
from dynamics.weights.reader import open_checkpoint
from tests.dynamics.weights.checkpoint_files import attention
from tests.dynamics.weights.test_reader import eps_of, inside
from theory.alibi.rounded import UNITS, weight_growth
from theory.alibi.tables import rounded_biases

LENGTH, STEPS, SIZE = 14, 14, 0.35


class Run(NamedTuple):
    """Of a layer: exact ranges and ranges as run (heads,), what ALiBi adds (heads, length), sinks and their window."""

    exact: torch.Tensor
    spread: torch.Tensor
    largest: torch.Tensor
    error: torch.Tensor
    sinks: torch.Tensor | None
    biases: torch.Tensor
    window: int


class Models(NamedTuple):
    """The same weights, all of them numbers of bfloat16, in two formats."""

    float32: torch.nn.Module
    bfloat16: torch.nn.Module


def models(single, folder):
    """A model rounded to bfloat16, and its copy in this format, which is saved."""
    with torch.no_grad():
        for parameter in single.parameters():
            parameter.copy_(parameter.bfloat16())
    half = in_half(single)
    half.save_pretrained(folder)
    return Models(single, half)


def in_half(single):
    """A copy in bfloat16."""
    half = copy.deepcopy(single).to(torch.bfloat16)
    for name, buffer in single.named_buffers():  # angles stay in float32, as where a checkpoint is loaded
        if name.endswith("inv_freq"):
            place, _, leaf = name.rpartition(".")
            setattr(half.get_submodule(place), leaf, buffer.clone())
    return half


def bounds(folder, arithmetic):
    """Layer by layer, for contexts of LENGTH tokens."""
    checkpoint = open_checkpoint(folder)
    asked, found = settings(checkpoint, 0.01, 0.01, context=LENGTH), []
    for layer in range(checkpoint.architecture.n_layers):
        sizes, heads = checkpoint.layer_architecture(layer), layer_scopes(checkpoint, layer, asked)
        logits = rounded_logits(checkpoint, layer, heads, asked, arithmetic)
        biases = torch.zeros(sizes.n_heads, LENGTH, dtype=torch.float64)
        for head, slope in enumerate(sizes.slopes or ()):
            exact = slope * torch.arange(LENGTH, dtype=torch.float64)
            root = sizes.d_head**0.5  # eager Falcon adds its biases twice
            twice = 2 * torch.from_numpy(rounded_biases(slope * root, LENGTH, 1 / root))
            biases[head] = twice if sizes.rounded_biases else exact
        sinks = None if heads[0].sink is None else torch.tensor([one.sink for one in logits])
        rows = [(head.logit_range, of.spread, of.largest, of.error) for head, of in zip(heads, logits, strict=True)]
        of = torch.tensor(rows, dtype=torch.float64).T
        found.append(Run(*of, sinks, biases, checkpoint.small(layer).window or LENGTH))
    return found


def logs(model, states, runs):
    """By layer the logarithms of weights (heads, length, length) less what ALiBi adds, and where a query sees."""
    model.config.output_attentions = True
    with torch.enable_grad():
        found = model(inputs_embeds=states.to(next(model.parameters()).dtype), output_attentions=True).attentions
    distance = torch.arange(LENGTH)[:, None] - torch.arange(LENGTH)
    return [
        (weights[0].double().clamp_min(1e-40).log() - run.biases[:, None], (distance >= 0) & (distance < run.window))
        for weights, run in zip(found, runs, strict=True)
    ]


def spread_of(log, seen):
    """How far the logits of any query are apart, (heads,); weights that underflowed are left out."""
    told = seen & (log > -80)
    top = log.masked_fill(~told, -torch.inf).amax(-1)
    return (top - log.masked_fill(~told, torch.inf).amin(-1)).amax(-1)


def rounding(model, name, folder, states, runs):
    """By layer how much of the allowed error of two logits is seen, (heads,): weights as run against exact ones.

    Exact are those of the checkpoint in float64, from the very states that enter the norm of each layer.
    """
    checkpoint, shares = open_checkpoint(folder), []
    records = inside(model, name, inputs_embeds=states.to(next(model.parameters()).dtype))
    allowed = 2 * math.log(weight_growth(UNITS["bfloat16"], LENGTH))
    for layer, (record, run) in enumerate(zip(records, runs, strict=True)):
        exact = attention(checkpoint, layer, record["hidden"], eps_of(model))[0]
        seen = (exact > 1e-20) & (record["weights"] > 1e-20)
        gaps = record["weights"].double().clamp_min(1e-30).log() - exact.clamp_min(1e-30).log()
        off = gaps.masked_fill(~seen, -torch.inf).amax(-1) - gaps.masked_fill(~seen, torch.inf).amin(-1)
        shares.append(off.amax(-1) / (2 * run.error + allowed))
    return torch.cat(shares)


def searched(both, runs, seed, steps=STEPS):
    """States of one context after another, random and then uphill: (1, length, width), in numbers of bfloat16."""
    width = both.float32.get_input_embeddings().weight.shape[1]
    states = torch.randn(1, LENGTH, width, generator=torch.Generator().manual_seed(seed))
    for _ in range(steps):
        states = states.bfloat16().float().detach().requires_grad_()
        yield states
        total = sum(spread_of(log, seen).sum() for log, seen in logs(both.float32, states, runs))
        (slope,) = torch.autograd.grad(total, states)
        states = states + 0.4 * slope / slope.norm().clamp_min(1e-12) * states.norm()
