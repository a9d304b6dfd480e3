"""A tiny arena: three entries, three comparisons, models of width 8; results without training."""

from dynamics.arena.plan import ArenaPlan, Comparison, Entry
from dynamics.arena.record import PackedTraining, RunResult
from dynamics.model.config import Residual
from dynamics.statistics.rule import Rule
from dynamics.tasks.corpus import standard_library
from dynamics.tasks.packed import VOCAB
from tests.dynamics.model.variants import named

TRAINING = PackedTraining(
    corpus=standard_library().sha256, steps=6, rows=2, length=12, heldout_rows=4, scores=3, warmup=2
)
SHORT = TRAINING.but(steps=2, rows=1, length=8, heldout_rows=1, scores=1)
MODELS = {"vanilla": {"shift": "none"}, "kv": {}, "resformer": {"shift": "none", "values": Residual()}}


def entry(training=TRAINING, stack=1, **changes) -> Entry:
    config = named(width=8, n_heads=2, n_layers=2, vocab=VOCAB, **changes)
    return Entry(config=config, training=training, stack=stack)


def comparison(variant, baseline, least=4, most=6) -> Comparison:
    rule = Rule(
        metric="loss", lower_is_better=True, smallest=0.005, error=0.3, share=0.3, least=least, most=most,
        method="gaussian",
    )  # fmt: skip
    return Comparison(variant=variant, baseline=baseline, rule=rule)


def plan(stack=1, training=TRAINING, **more) -> ArenaPlan:
    entries = {name: entry(training, stack, **changes) for name, changes in MODELS.items()}
    compared = {
        "kv / vanilla": comparison("kv", "vanilla", **more),
        "resformer / vanilla": comparison("resformer", "vanilla", **more),
        "kv / resformer": comparison("kv", "resformer", **more),
    }
    return ArenaPlan(title="Three tiny models", entries=entries, comparisons=compared)


def pair(least: int, most: int) -> ArenaPlan:
    """Two entries that are trained in no time."""
    entries = {name: entry(SHORT, **MODELS[name]) for name in ("kv", "vanilla")}
    compared = {"kv / vanilla": comparison("kv", "vanilla", least, most)}
    return ArenaPlan(title="Tiny", entries=entries, comparisons=compared)


def made_up(wanted: ArenaPlan, losses: dict[str, list[float]]) -> dict[str, RunResult]:
    """Results whose last held-out losses are these, seed by seed; the score before is one more."""
    found = {}
    for name, values in losses.items():
        stack = wanted.entries[name].stack
        for first in range(0, len(values), stack):
            run, part = wanted.run(name, first), values[first : first + stack]
            loss = [[*[value + 1] * (run.training.scores - 1), value] for value in part]
            by_place = [[*[value] * 7, None] for value in part]
            found[run.name] = RunResult(run=run, steps=run.training.scored, loss=loss, by_place=by_place)
    return found
