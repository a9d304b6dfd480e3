"""Model-steps a second of an ensemble against the loop over its models, at several numbers of models and widths.

Every way takes the same steps on the same prepared batches, interleaved: `train_step` model by model, or stacked
matmuls in chunks as `train_ensemble` has them. Attention-only, vocabulary 64, rows of about 7 tokens.
"""

from collections.abc import Callable

import torch

from benchmarks.row import Guard, Limit, Row, compare
from benchmarks.timing import Times, interleave
from dynamics.model.config import ModelConfig
from dynamics.model.decoder import InductionModel
from dynamics.tasks.induction import Induction
from dynamics.training.ensemble import Stack, _members, default_chunk, losses, stacked_rows
from dynamics.training.loop import make_optimizer, train_step
from dynamics.training.settings import TrainConfig

WIDTHS, NUMBERS = (16, 64, 128), (8, 32, 128)
# By width, of the most models; a stack of few has less to gain.
FLOORS, OF_FEWER = {16: 6.0, 64: 2.5, 128: 1.5}, {16: 2.0, 64: 1.2, 128: 0.95}
# What compiled prototypes reached.
AIMS = {16: 9.9, 64: 2.6, 128: 1.4}
BATCH, POOL, VOCAB = 32, 32, 64


def measure(quick: bool) -> Row:
    cells = [(16, 8)] if quick else [(width, number) for width in WIDTHS for number in NUMBERS]
    comparisons, distance, error = [], 0.0, 0.0
    for width, number in cells:
        times, gap = cell(width, number, 3 if quick else 5)
        label = f"loop, width {width}, {number} models"
        most = number == NUMBERS[-1]
        floor, aim = (FLOORS if most else OF_FEWER)[width], AIMS[width] if most else None
        comparisons.append(compare(times, "loop", label, floor, aim))
        distance, error = max(distance, times.ratio("ours", "flops")), max(error, gap)
    return Row(
        "ensemble",
        comparisons,
        [Limit("matmuls alone", distance)],
        [Guard("largest difference of a loss", error, 1e-4)],
    )


def cell(width: int, number: int, rounds: int) -> tuple[Times, float]:
    """Times of one step of all models, and the largest difference of a loss between the ways."""
    config = ModelConfig(vocab=VOCAB, width=width)
    trainings = [TrainConfig(batch=BATCH, task=Induction(pool=POOL), seed=seed) for seed in range(number)]
    found: dict[str, list[float]] = {"loop": [], "ours": []}
    size = default_chunk(config)
    chunks = [trainings[start : start + size] for start in range(0, number, size)]
    rows = [[stacked_rows(chunk, step, VOCAB, "cpu") for step in range(rounds + 1)] for chunk in chunks]
    times = interleave(
        {
            "loop": loop(config, trainings, rows, found["loop"]),
            "ours": stacked(config, chunks, rows, found["ours"]),
            "flops": matmuls(config, chunks, rows),
        },
        rounds,
    )
    return times, max(abs(a - b) for a, b in zip(found["loop"], found["ours"], strict=True))


def loop(config, trainings, rows, found) -> Callable[[], None]:
    """One step of every model in turn, each on its own rows, trimmed to its own longest."""
    models = [InductionModel(config, torch.Generator().manual_seed(t.seed)) for t in trainings]
    optimizers, steps = [make_optimizer(model, t) for model, t in zip(models, trainings, strict=True)], [0]

    def step():
        mine = [trimmed(*(part[n] for part in chunk[steps[0]])) for chunk in rows for n in range(len(chunk[0][0]))]
        for model, optimizer, batch, training in zip(models, optimizers, mine, trainings, strict=True):
            optimizer.param_groups[0]["lr"] = training.learning_rate / training.warmup * (steps[0] + 1)
            found.append(train_step(model, optimizer, batch, training.clip)[0])
        steps[0] += 1

    return step


def trimmed(tokens, query_index, target):
    return tokens[:, : int(query_index.max()) + 1], query_index, target


def stacked(config, chunks, rows, found) -> Callable[[], None]:
    stacks, steps = [Stack(_members(config, chunk, None), torch.device("cpu"), torch.float32) for chunk in chunks], [0]

    def step():
        for stack, mine in zip(stacks, rows, strict=True):
            found.extend(stack.step(steps[0], mine[steps[0]], losses)[0].tolist())
        steps[0] += 1

    return step


def matmuls(config, chunks, rows) -> Callable[[], None]:
    """The multiplications of a step and nothing else: key and value everywhere, query, output and head once a row."""
    width, steps = config.width, [0]

    def step():
        for chunk, mine in zip(chunks, rows, strict=True):
            n, length = len(chunk), mine[steps[0]][0].shape[2]
            many, few = torch.ones(n, BATCH * length, width), torch.ones(n, BATCH, width)
            square, head = torch.ones(n, width, width), torch.ones(n, width, VOCAB)
            for _ in range(3):  # forward, and twice as much backward
                for left, right in ((many, square), (many, square), (few, square), (few, square), (few, head)):
                    left @ right
        steps[0] += 1

    return step
