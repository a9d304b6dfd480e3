"""Which heads do induction: named by what they attend to and by what the model loses without them.

A head is taken out by a zero in place of its output. Heads that attend to the successor are taken out one by one, all
together, and all but one: twins cover for each other, so that the loss of one head alone shows nothing. A head is
needed if the model loses without it at least `NEEDED` nats, alone or as the last one left, and three standard errors.
A model that answers no better than a random token of the row has no induction heads.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch.nn import functional as F

from dynamics.heads import theorem
from dynamics.heads.named import HeadReport, inspect
from dynamics.model.decoder import InductionModel
from dynamics.tasks.induction import Induction
from dynamics.tasks.task import Batch, Task
from dynamics.training.evaluation import as_tensors, parts

NEEDED = 0.1  # nats
ERRORS = 3.0
Heads = Collection[tuple[int, int]]


class Score(NamedTuple):
    """Of each row: its loss in nats and whether the answer is right, (rows,)."""

    loss: NDArray[np.float64]
    right: NDArray[np.bool_]


class Judged(NamedTuple):
    """One head. repeated, last: mean attention of x_{T+1} to x_i and to itself.

    without: the model without this head; only: without all that attend but this one, None for a head that does not
    attend; needed: whether the model loses enough without it. gain: key and value; theta: its coordinates with gains;
    loss: the theorem's loss there alone; read_out: what it adds in the model to the logit of the token that it attends
    to; None where gains are not defined.
    """

    report: HeadReport
    repeated: float
    last: float
    without: Score
    only: Score | None
    needed: bool
    gain: theorem.Pair | None
    theta: NDArray[np.float64] | None
    loss: float | None
    read_out: theorem.ReadOut | None
    verdict: str


class Inspection(NamedTuple):
    """A model: its score, that without all heads that attend, its heads; even: attention of 1 / (T + 1) to each token;
    guess: chance of a random token of the row; answers: whether the model is right more often, by three standard
    errors; together: the theorem's loss of all heads, and stages as `theorem`.
    """

    score: Score
    without_all: Score
    heads: list[Judged]
    even: float
    guess: float
    answers: bool
    together: float | None
    stages: dict[str, float] | None


@torch.no_grad()
def score(model: InductionModel, batch: Batch, without: Heads = (), chunk: int = 512) -> Score:
    """Each row's loss and answer, of a model without some heads, (layer, head)."""
    losses, right = [], []
    with silenced(model, without):
        for piece in parts(batch, chunk):
            tokens, query, target = as_tensors(piece, model.embedding.device)
            logits = model(tokens, query)
            losses.append(F.cross_entropy(logits.double(), target, reduction="none").cpu())
            right.append((logits.argmax(-1) == target).cpu())
    return Score(torch.cat(losses).numpy(), torch.cat(right).numpy())


@contextmanager
def silenced(model: InductionModel, heads: Heads) -> Iterator[None]:
    """Within, the outputs of some heads are zero; afterwards the model has its own weights again, the same tensors."""
    held = [block.attention.o_proj.weight.data for block in model.blocks]
    try:
        for layer, head in heads:
            attention = model.blocks[layer].attention
            weight = attention.o_proj.weight.data.clone()
            weight[:, head * attention.head_dim : (head + 1) * attention.head_dim] = 0
            attention.o_proj.weight.data = weight
        yield
    finally:
        for block, weight in zip(model.blocks, held, strict=True):
            block.attention.o_proj.weight.data = weight


def judge(model: InductionModel, batch: Batch, task: Task) -> Inspection:
    """Every head with its verdict. Raises: ValueError where heads cannot be named (`dynamics.heads.named.unnamed`)."""
    reports = inspect(model, batch)
    attending = [one[:2] for one in reports if one.attends]
    whole, without_all = score(model, batch), score(model, batch, attending)
    guess, right = float((1 / (batch.lengths - 1)).mean()), float(whole.right.mean())
    answers = right - guess > ERRORS * (guess * (1 - guess) / len(whole.right)) ** 0.5
    scores, costs = {}, {}
    for report in reports:
        alone = score(model, batch, [report[:2]])
        only = score(model, batch, [one for one in attending if one != report[:2]]) if report.attends else None
        lost = [_cost(whole, alone)] if only is None else [_cost(whole, alone), _cost(only, without_all)]
        scores[report[:2]], costs[report[:2]] = (alone, only), max(lost, key=abs)
    workers = sum(costs[place] > 0 for place in attending) * answers
    beside, together, stages = _theorem(model, batch, task)
    heads = []
    found = zip(reports, *_attention(model, batch), beside or [(None,) * 4] * len(reports), strict=True)
    for report, *seen, own in found:
        cost = costs[report[:2]]
        needed = cost > 0 and (answers or not report.attends)
        heads.append(Judged(report, *seen, *scores[report[:2]], needed, *own, _verdict(report, cost, workers)))
    return Inspection(whole, without_all, heads, float((1 / batch.lengths).mean()), guess, answers, together, stages)


def _theorem(model: InductionModel, batch: Batch, task: Task) -> tuple[list, float | None, dict[str, float] | None]:
    """Gain, coordinates, the theorem's loss and read-out of each head; the loss of all heads; and the stages."""
    if not (theorem.has_gains(model.config) and isinstance(task, Induction)):
        return [], None, None
    theta = theorem.theta(model, batch)
    outs = [theorem.read_out(model, batch, head) for head in range(len(theta))]
    alone = theorem.predicted(theta[:, None], task.pool).tolist()
    rows = list(zip(theorem.gains(model, batch), theta, alone, outs, strict=True))
    return rows, float(theorem.predicted(theta, task.pool)), theorem.stages(model, batch)


def _cost(before: Score, after: Score) -> float:
    """What is lost between two scores of the same rows, in nats; 0 where it is too little to tell."""
    lost = after.loss - before.loss
    error = lost.std(ddof=1) / len(lost) ** 0.5
    return float(lost.mean()) if abs(lost.mean()) >= max(NEEDED, ERRORS * error) else 0.0


def _verdict(report: HeadReport, cost: float, workers: int) -> str:
    if report.attends:
        if cost < 0:
            return "attends, works against the answer"
        if cost == 0:
            return "attends, not needed even jointly"
        if not workers:
            return "attends, in a model no better than a guess"
        return "the induction head" if workers == 1 else f"one of {workers} that share the work"
    if cost > 0:
        return "lowers the loss, attends elsewhere"
    if cost == 0 and report.key_looks_back and report.value_stays:
        return "looks like one without its gains and is not"
    return "works against the answer" if cost < 0 else "no induction head"


@torch.no_grad()
def _attention(model: InductionModel, batch: Batch) -> tuple[list[float], list[float]]:
    """Mean attention of x_{T+1} to x_i and to itself, a head each, layers one after the other."""
    sums = []
    for piece in parts(batch, 512):
        tokens, query, _ = as_tensors(piece, model.embedding.device)
        rows = torch.arange(len(tokens), device=tokens.device)
        index = torch.from_numpy(piece.position).to(tokens.device).sub(1).clamp(min=0)
        weights = torch.cat(model.attention_weights(tokens, query), dim=1)
        sums.append(torch.stack([weights[rows, :, at].double().sum(0) for at in (index, query)]))
    repeated, last = (sum(sums) / len(batch.lengths)).tolist()
    return repeated, last
