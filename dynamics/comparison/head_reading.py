"""What the heads of the comparison's models read, and how many questions are answered if only some heads are whole.

Everything is measured on the windows of the comparison. A cut head keeps the sinks and a window, a fifth of the context
together as in Table 2 of RazorAttention, and no compensation token.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from fractions import Fraction
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from dynamics.comparison.by_distance import head_scopes
from dynamics.comparison.heads import rank_heads
from dynamics.comparison.plan import HEAVY, sizes
from dynamics.comparison.policies import held_out
from dynamics.comparison.record import Settings
from dynamics.files.hashed import Hashed
from dynamics.files.manifest import Strict
from dynamics.files.shipped import FOLDER
from dynamics.model.attention_function import AttentionFunction, replaced
from dynamics.model.decoder import InductionModel
from dynamics.razor.eviction import causal_weights, heavy_hitters, known_query, sink_window_but
from dynamics.tasks.corpus import Corpus
from dynamics.tasks.needles import ANSWER, FIRST_KEY, FIRST_VALUE, Windows
from dynamics.training.text import text_losses

COUNTS = (0, 1, 2, 3, 4, 5, 6, 8, 12, 16, 24, 32)
OBSERVED = 16  # last tokens of the prompt by which SnapKV chooses
BUDGET = "8/25"
Head = tuple[int, int]


class HeadReading(Strict):
    """One head. slope, printed: its scope by Eq. 2; local: mean weight on sinks and window of the last half of the text
    rows; needle: mean weight on the value that a question asks for; first: how often no token has more; whole, cut:
    questions answered with this head alone whole, and with this one alone cut."""

    layer: int
    head: int
    slope: float
    printed: float
    local: float
    needle: float
    first: int
    whole: int
    cut: int


class Kept(Strict):
    """Questions answered, bits per byte and the mean probability of an answer with some heads whole, the rest cut."""

    heads: tuple[Head, ...]
    hits: int
    bits: float
    probability: float


class Known(Strict):
    """SnapKV with the first question at the end of the prompt, or just after it: answers to it and to the later
    ones."""

    first: int
    later: int
    unasked: int


class Evicted(Strict):
    """Heavy hitters: share of all tokens that some head still holds at the end; questions whose value some head holds
    when it is asked for, and the finder; questions answered, and of those that the finder holds."""

    kept: float
    held: int
    held_by_finder: int
    hits: int
    hits_by_finder: int


class ModelReading(Strict):
    """All heads of one model; orders: whole heads by induction score (`ranked`) and by printed scope (`scoped`); the
    sets: `protected` by the rule of Table 2, all `others`, the `finder`, all but it."""

    seed: int
    full: Kept
    heads: tuple[HeadReading, ...]
    ranked: tuple[Kept, ...]
    scoped: tuple[Kept, ...]
    protected: Kept
    others: Kept
    finder: Kept
    but_finder: Kept
    known: Known
    evicted: Evicted


class Reading(Hashed):
    """The models, what they were trained on, and how they were measured."""

    shipped = FOLDER / "comparison" / "head_reading.json"

    torch_version: str
    settings: Settings
    sinks: int
    window: int
    questions: int
    models: tuple[ModelReading, ...]


class _Places(NamedTuple):
    """Of each question: its row, the position of its key and that of the value it asks for."""

    row: np.ndarray
    asked: np.ndarray
    value: np.ndarray


def read_model(model: InductionModel, settings: Settings, seed: int, corpus: Corpus) -> ModelReading:
    """Measure one model of the comparison."""
    text, needles = held_out(settings, corpus)
    sinks, window = settings.sinks, settings.context // 5 - settings.sinks
    config, places = settings.config, questions(needles)
    every = [(layer, head) for layer in range(config.n_layers) for head in range(config.n_heads)]

    def kept(whole: Collection[Head]) -> Kept:
        hits, probability = _answers(model, sink_window_but(whole, sinks, window), needles)
        bits = _bits(model, sink_window_but(whole, sinks, window), text)
        return Kept(heads=tuple(whole), hits=hits, bits=bits, probability=probability)

    heads = _each_head(model, settings, seed, text, needles, places, every)
    ranks = rank_heads(model, settings.score_k, seed)
    induction = [score for row in ranks.induction for score in row]
    by_score = [every[i] for i in sorted(range(len(every)), key=lambda i: (-induction[i], i))]
    by_scope = [every[i] for i in sorted(range(len(every)), key=lambda i: (-heads[i].printed, i))]
    finder = max(heads, key=lambda head: head.whole)
    alone, protected = (finder.layer, finder.head), list(ranks.ranking[: ranks.protected])
    counts = [count for count in COUNTS if count <= len(every)]
    return ModelReading(
        seed=seed,
        full=kept(every),
        heads=heads,
        ranked=tuple(kept(by_score[:count]) for count in counts),
        scoped=tuple(kept(by_scope[:count]) for count in counts),
        protected=kept(protected),
        others=kept([head for head in every if head not in protected]),
        finder=kept([alone]),
        but_finder=kept([head for head in every if head != alone]),
        known=_known(model, settings, needles, places),
        evicted=_evicted(model, settings, needles, places, alone),
    )


def _each_head(
    model: InductionModel,
    settings: Settings,
    seed: int,
    text: Windows,
    needles: Windows,
    places: _Places,
    every: Sequence[Head],
) -> tuple[HeadReading, ...]:
    """What each head attends to, how far it sees, and what is found with it alone whole and with it alone cut."""
    sinks, window, config = settings.sinks, settings.context // 5 - settings.sinks, settings.config
    local, needle, first = _attention(model, text, needles, places, sinks, window)
    scopes = head_scopes(model, seed, np.zeros((config.n_layers, config.n_heads, 1)))
    return tuple(
        HeadReading(
            layer=head[0], head=head[1], slope=scope.slope, printed=round(scope.printed, 1),
            local=round(float(local[head]), 4), needle=round(float(needle[head]), 4), first=int(first[head]),
            whole=_answers(model, sink_window_but([head], sinks, window), needles)[0],
            cut=_answers(model, sink_window_but([h for h in every if h != head], sinks, window), needles)[0],
        )
        for head, scope in zip(every, scopes, strict=True)
    )  # fmt: skip


def questions(needles: Windows) -> _Places:
    """Where each answer's key is asked for and where its value was planted, found by comparing bytes."""
    rows, due = np.nonzero(needles.kind == ANSWER)
    asked, planted = due - 1, []
    for row, at in zip(rows, asked, strict=True):
        tokens = needles.tokens[row]
        (first,) = np.flatnonzero(tokens[:at] == tokens[at])
        planted.append(int(first) + 1)
    values = np.array(planted)
    if not (
        (needles.tokens[rows, asked] >= FIRST_KEY).all()
        and (needles.tokens[rows, values] == needles.tokens[rows, due]).all()
        and (needles.tokens[rows, values] >= FIRST_VALUE).all()
    ):
        raise ValueError("a question does not ask for the value that was planted")
    return _Places(rows, asked, values)


def _answers(model: InductionModel, function: AttentionFunction, needles: Windows) -> tuple[int, float]:
    right, losses = _by_question(model, function, needles)
    return int(right.sum()), round(float(np.exp(-losses).mean()), 5)


@torch.no_grad()
def _by_question(model: InductionModel, function: AttentionFunction, needles: Windows) -> tuple[np.ndarray, np.ndarray]:
    """Right answers and losses, question by question, in the order of `questions`."""
    with replaced(model, function):
        losses, right, kind = text_losses(model, needles)
    return right[kind == ANSWER].numpy(), losses[kind == ANSWER].numpy()


@torch.no_grad()
def _bits(model: InductionModel, function: AttentionFunction, text: Windows) -> float:
    with replaced(model, function):
        losses, _, _ = text_losses(model, text)
    return round(float(losses[:, losses.shape[1] // 2 :].mean()) / float(np.log(2)), 5)


@torch.no_grad()
def _attention(model: InductionModel, text: Windows, needles: Windows, places: _Places, sinks: int, window: int):
    """local, needle, first, each (layers, heads): see HeadReading."""
    shape = (model.config.n_layers, model.config.n_heads)
    local, needle, first = np.zeros(shape), np.zeros(shape), np.zeros(shape, dtype=int)

    def on_text(layer, query, key, value, *, scale, slopes):
        weights = causal_weights(query, key, scale, slopes)
        index = torch.arange(query.shape[2])
        near = (index < sinks) | (index[:, None] - index < window)
        local[layer] = (weights * near).sum(-1)[:, :, len(index) // 2 :].double().mean((0, 2)).numpy()
        return weights @ value

    def on_needles(layer, query, key, value, *, scale, slopes):
        weights = causal_weights(query, key, scale, slopes)
        rows = weights[places.row, :, places.asked]  # (questions, heads, n)
        found = rows[np.arange(len(rows)), :, places.value]
        needle[layer] = found.double().mean(0).numpy()
        first[layer] = (rows.argmax(-1) == torch.from_numpy(places.value)[:, None]).sum(0).numpy()
        return weights @ value

    for function, windows in ((on_text, text), (on_needles, needles)):
        with replaced(model, function):
            text_losses(model, windows)
    return local, needle, first


def _known(model: InductionModel, settings: Settings, needles: Windows, places: _Places) -> Known:
    """SnapKV at BUDGET: prompts that end with the first question of a row, or one token before it."""
    rows = range(len(needles.tokens))
    opening = torch.tensor([int(places.asked[places.row == row].min()) for row in rows])
    is_first = places.asked == opening.numpy()[places.row]
    share = math.floor(Fraction(BUDGET) * settings.context)
    with_question, _ = _by_question(model, known_query(opening, OBSERVED, max(share - OBSERVED, 0)), needles)
    before, _ = _by_question(model, known_query(opening - 1, OBSERVED, max(share - OBSERVED, 0)), needles)
    return Known(
        first=int(with_question[is_first].sum()),
        later=int(with_question[~is_first].sum()),
        unasked=int(before[is_first].sum()),
    )


def _evicted(model: InductionModel, settings: Settings, needles: Windows, places: _Places, finder: Head) -> Evicted:
    total = settings.config.n_layers * settings.config.n_heads
    size = sizes(HEAVY, Fraction(BUDGET), total, settings.context, settings.sinks, 0)
    held = np.zeros((len(places.row), settings.config.n_layers, settings.config.n_heads), dtype=bool)
    last = np.zeros((len(needles.tokens), settings.context), dtype=bool)

    def watch(layer: int, t: int, evicted: Tensor) -> None:
        asked = np.flatnonzero(places.asked == t)
        held[asked, layer] = ~evicted[places.row[asked], :, places.value[asked]].numpy()
        if t == settings.context - 1:
            np.logical_or(last, (~evicted).any(1).numpy(), out=last)

    right, _ = _by_question(model, heavy_hitters(size.heavy, size.window, watch), needles)
    found = held[:, finder[0], finder[1]]
    return Evicted(
        kept=round(float(last.mean()), 4),
        held=int(held.any((1, 2)).sum()),
        held_by_finder=int(found.sum()),
        hits=int(right.sum()),
        hits_by_finder=int(right[found].sum()),
    )


def measure_reading(settings: Settings, corpus: Corpus, models: dict[int, InductionModel]) -> Reading:
    """The comparison's models by seed."""
    found = [read_model(model, settings, seed, corpus) for seed, model in models.items()]
    return Reading(
        torch_version=torch.__version__, settings=settings, sinks=settings.sinks,
        window=settings.context // 5 - settings.sinks, questions=settings.needle_rows * settings.pairs,
        models=tuple(found),
    )  # fmt: skip


write_reading, read_reading = Reading.write, Reading.read
