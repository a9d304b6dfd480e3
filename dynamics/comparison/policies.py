"""Cache policies at equal memory on a trained model, measured in bits per byte and in needles retrieved."""

import math
from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from dynamics.comparison.heads import chosen_heads, rank_heads
from dynamics.comparison.plan import COMPENSATION, FULL, HEAVY, RANDOM, STREAMING, WINDOW, Sizes, cells, sizes
from dynamics.comparison.record import Cell, Heads, Part, Settings
from dynamics.files.atomic import atomic_write_text
from dynamics.model.attention_function import AttentionFunction, full_attention, replaced
from dynamics.model.decoder import InductionModel
from dynamics.razor.cache import RazorCache
from dynamics.razor.eviction import heavy_hitters, sink_window
from dynamics.razor.plan import RazorPlan
from dynamics.tasks.corpus import Corpus
from dynamics.tasks.needles import ANSWER, Windows, retrieval_windows, text_windows
from dynamics.training import checkpoint
from dynamics.training.text import text_losses, train_text

CHUNK = 32  # windows at a time
EVALUATION, CENTRES = 10, 11  # spawn keys of streams that no training uses
Progress = Callable[[str], None]


class Evaluated(NamedTuple):
    """Bits per byte of each text row, over its second half, and right answers in each needle row."""

    bits: list[float]
    hits: list[int]


def compare_seed(
    settings: Settings, seed: int, corpus: Corpus, folder: Path, device: str, progress: Progress, bar: bool
) -> Part:
    """Train the model of one seed and measure every policy at every budget; what `folder` already holds is kept.

    Raises: ValueError for a folder of other settings; KeyboardInterrupt on Ctrl-C, with whole files.
    """
    model = trained_model(settings, seed, corpus, folder, device, bar)
    saved = folder / "cells.json"
    part = (
        _read_part(saved, settings)
        if saved.exists()
        else Part(settings=settings, heads=rank_heads(model, settings.score_k, seed), cells=())
    )
    texts, centres = held_out(settings, corpus), mean_queries(model, settings, corpus)
    done = {(cell.policy, cell.budget) for cell in part.cells}
    for policy, budget in cells(tuple(Fraction(b) for b in settings.budgets)):
        if (policy, str(budget)) not in done:
            cell = measure(model, settings, part.heads, policy, budget, texts, centres)
            part = part.model_copy(update={"cells": (*part.cells, cell)})
            atomic_write_text(saved, part.model_dump_json() + "\n")
        progress(f"seed {seed}, {policy} at {budget}")
    return part


def trained_model(
    settings: Settings, seed: int, corpus: Corpus, folder: Path, device: str, bar: bool
) -> InductionModel:
    """The model of one seed, trained as far as the state in `folder` is not."""
    training = settings.training.model_copy(update={"seed": seed})
    return train_text(settings.config, training, corpus, out=folder, device=device, progress=bar).model


def held_out(settings: Settings, corpus: Corpus) -> tuple[Windows, Windows]:
    """Text windows and needle windows that every seed and policy is measured on."""
    rng = np.random.default_rng(np.random.SeedSequence(0, spawn_key=(EVALUATION,)))
    needles = retrieval_windows(rng, corpus.heldout, settings.needle_rows, settings.context, settings.pairs)
    return text_windows(rng, corpus.heldout, settings.text_rows, settings.context), needles


def measure(
    model: InductionModel,
    settings: Settings,
    heads: Heads,
    policy: str,
    budget: Fraction,
    windows: tuple[Windows, Windows],
    centres: dict[int, Tensor],
) -> Cell:
    """One policy at one budget, on text and needle windows."""
    config, context = settings.config, settings.context
    total = config.n_layers * config.n_heads
    size = sizes(policy, budget, total, context, settings.sinks, heads.protected)
    bits, hits = [], []
    for draw in range(settings.draws) if policy == RANDOM else (None,):
        chosen = chosen_heads(heads, size.protected, draw)
        found = evaluate(model, lambda chosen=chosen: attention_of(policy, size, chosen, settings, centres), *windows)
        bits += found.bits
        hits += found.hits
    return Cell(seed=heads.seed, policy=policy, budget=str(budget), entries=size.entries(total, context),
                bits=tuple(round(value, 5) for value in bits), hits=tuple(hits))  # fmt: skip


def save_model(folder: Path, model: InductionModel, settings: Settings, seed: int, corpus: Corpus) -> None:
    """Write a model in float16, with what the weights as stored score under the full cache."""
    device = str(model.embedding.device)
    model.half().float()
    found = evaluate(model, lambda: full_attention, *held_out(settings, corpus))
    training = settings.training.model_dump() | {"seed": seed}
    training["lengths"] = " ".join(f"{length}:{steps}" for length, steps in settings.training.lengths)
    metrics = {
        "heldout_bits_per_byte": float(np.mean(found.bits)),
        "needles_found": float(np.mean(found.hits)) / settings.pairs,
    }
    checkpoint.save(folder, model, seed=seed, threads=torch.get_num_threads(), device=device, training=training,
                    metrics=metrics, half=True)  # fmt: skip


def attention_of(
    policy: str, size: Sizes, protected: list[tuple[int, int]], settings: Settings, centres: dict[int, Tensor]
) -> AttentionFunction:
    """The policy as an attention function for one batch: new, since a Razor cache remembers."""
    if policy == FULL:
        return full_attention
    if policy in (WINDOW, STREAMING):
        return sink_window(size.sinks, size.window)
    if policy == HEAVY:
        return heavy_hitters(size.heavy, size.window)
    config = settings.config
    plan = RazorPlan.for_heads(
        protected, config.n_layers, config.n_heads, config.n_kv_heads or config.n_heads,
        sinks=size.sinks, buffer=size.window, share=Fraction(0), compensation=COMPENSATION[policy],
    )  # fmt: skip
    return RazorCache(plan, centres if COMPENSATION[policy] == "centred" else None)


@torch.no_grad()
def evaluate(
    model: InductionModel, function: Callable[[], AttentionFunction], text: Windows, needles: Windows
) -> Evaluated:
    """Score a model whose attention goes through function(), called anew for each batch."""
    bits, hits = [], []
    for batch in _chunks(text):
        with replaced(model, function()):
            losses, _, _ = text_losses(model, batch)
        bits += (losses[:, losses.shape[1] // 2 :].mean(1) / math.log(2)).tolist()
    for batch in _chunks(needles):
        with replaced(model, function()):
            _, right, kind = text_losses(model, batch)
        hits += (right & (kind == ANSWER)).sum(1).tolist()
    return Evaluated(bits, hits)


@torch.no_grad()
def mean_queries(model: InductionModel, settings: Settings, corpus: Corpus) -> dict[int, Tensor]:
    """Layer by layer the mean scaled query of each head over training text, (n_heads, head_dim): the centres."""
    rng = np.random.default_rng(np.random.SeedSequence(0, spawn_key=(CENTRES,)))
    windows = text_windows(rng, corpus.training, settings.centre_rows, settings.context)
    found: dict[int, Tensor] = {}

    def watching(layer, query, key, value, *, scale, slopes):
        found[layer] = scale * query.mean((0, 2))
        return full_attention(layer, query, key, value, scale=scale, slopes=slopes)

    with replaced(model, watching):
        text_losses(model, windows)
    return found


def _chunks(windows: Windows) -> Iterator[Windows]:
    for start in range(0, len(windows.tokens), CHUNK):
        yield Windows(*(part[start : start + CHUNK] for part in windows))


def _read_part(path: Path, settings: Settings) -> Part:
    part = Part.from_file(path)
    if part.settings != settings:
        raise ValueError(f"{path}: the interrupted comparison has other settings")
    return part
