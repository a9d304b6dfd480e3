"""A tiny plan of two models that learn to solve problems, and results without training."""

from dynamics.arena.igsm import models, rules
from dynamics.arena.solving_plan import Solved, SolvingPlan, SolvingResult, SolvingTraining
from dynamics.statistics.rule import Rule
from dynamics.tasks.igsm import IGSM

TASK = IGSM(operations=3, least=2, letters="successive", modulus=5, layers=2, items=2, names=2, edges=3)
TRAINING = SolvingTraining(task=TASK, tested=(3, 4), problems=2, steps=10, rows=1, length=96, warmup=2)


def tiny(seeds=4, training=TRAINING, **changes) -> SolvingPlan:
    """An error of 0.3, so that four seeds can exclude something."""
    found = {name: Rule.checked(rule.model_dump() | {"error": 0.3, "least": seeds, "most": seeds})
             for name, rule in rules(training, 8).items()}  # fmt: skip
    settings = {
        "title": "Tiny", "variant": "kv-shift", "baseline": "vanilla", "models": models(training.task, 8, 1),
        "training": training, "rules": found,
    }  # fmt: skip
    return SolvingPlan.checked(settings | changes)


def made_up(plan: SolvingPlan, counts: dict[str, list[tuple[int, int]]]) -> dict[str, SolvingResult]:
    """Results whose numbers of answered problems are these, of each seed at both tested sizes; none is right."""
    found = {}
    for model, seeds in counts.items():
        for number, answered in enumerate(seeds):
            run = plan.run(model, number)
            solved = Solved(answered=list(answered), right=[0] * len(answered), loss=[1.0] * 9 + [None])
            found[run.name] = SolvingResult(run=run, solved=solved)
    return found
