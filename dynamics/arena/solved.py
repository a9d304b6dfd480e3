"""All runs of a solving plan in one hashed file, and the verdicts of its rules."""

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from pydantic import model_validator

from dynamics.arena.bundle import SHIPPED
from dynamics.arena.engine import PLAN, Place
from dynamics.arena.league import WORDS
from dynamics.arena.record import Name
from dynamics.arena.solving_plan import Solved, SolvingPlan, SolvingResult, measures
from dynamics.files.hashed import Hashed
from dynamics.files.manifest import package_version
from dynamics.statistics.rule import State, Verdict, decide

IGSM = SHIPPED / "igsm.json"


class SolvedBundle(Hashed):
    """The file's contents. version, torch_version, place: what the bytes of results depend on beside the plan.

    solved: of each model, in the order of the seeds. Raises: ValueError for counts that are not the plan's.
    """

    lines = '\n{"answered"'

    plan: SolvingPlan
    version: str
    torch_version: str
    place: Place
    solved: dict[Name, list[Solved]]

    @model_validator(mode="after")
    def _of_the_plan(self) -> "SolvedBundle":
        if self.solved.keys() != self.plan.models.keys():
            raise ValueError(f"the models are {sorted(self.plan.models)}, got {sorted(self.solved)}")
        for model, found in self.solved.items():
            if len(found) > self.plan.seeds:
                raise ValueError(f"{model}: {len(found)} seeds of {self.plan.seeds}")
            for number, one in enumerate(found):
                run = self.plan.run(model, number)
                SolvingResult.checked({"run": run, "solved": one}, run.name)
        return self


def bundle_of(plan: SolvingPlan, found: Mapping[str, SolvingResult], place: Place) -> SolvedBundle:
    """Put finished runs together; of each model those that follow one another from the first seed on."""
    import torch

    solved: dict[str, list[Solved]] = {}
    for model in plan.models:
        solved[model] = []
        while (name := plan.run(model, len(solved[model])).name) in found:
            solved[model].append(found[name].solved)
    return SolvedBundle(
        plan=plan, version=package_version(), torch_version=torch.__version__, place=place, solved=solved
    )  # fmt: skip


write_bundle, read_bundle = SolvedBundle.write, SolvedBundle.read


def read_plan(folder: str | Path) -> SolvingPlan:
    """The plan of a folder. Raises: OSError: there is none. ValueError, one line: it does not hold."""
    return SolvingPlan.from_file(Path(folder) / PLAN)


class Line(NamedTuple):
    """One accuracy. baseline, variant: means over seeds, shares of the problems; difference, low, high: variant less
    baseline, the ends infinite where nothing is excluded; all lines hold at once at the plan's level, at every look.
    """

    name: str
    seeds: int
    baseline: float
    variant: float
    difference: float
    low: float
    high: float
    verdict: Verdict
    state: State


def accuracies(bundle: SolvedBundle, model: str, name: str) -> NDArray[np.float64]:
    """A model's accuracy by its name, seed by seed."""
    kind, place = measures(bundle.plan.training)[name]
    return np.array([getattr(one, kind)[place] for one in bundle.solved[model]]) / bundle.plan.training.problems


def lines(bundle: SolvedBundle) -> list[Line]:
    """All comparisons, in the order of the plan, of the seeds that both models have; none without a pair."""
    plan, table = bundle.plan, []
    pairs = min(map(len, bundle.solved.values()))
    for name, rule in plan.rules.items() if pairs else ():
        ours, theirs = (accuracies(bundle, model, name)[:pairs] for model in (plan.variant, plan.baseline))
        said = decide(rule, ours - theirs)
        means = float(theirs.mean()), float(ours.mean())
        table.append(
            Line(name, pairs, *means, float((ours - theirs).mean()), said.low, said.high, said.verdict, said.state)
        )
    return table


def outcome(plan: SolvingPlan, line: Line) -> str:
    """What may be said of it, in words."""
    if line.state is State.FEW:
        return "not enough seeds"
    return WORDS[line.verdict].format(x=f"{100 * plan.rules[line.name].smallest:g} points")


def as_records(bundle: SolvedBundle) -> list[dict[str, Any]]:
    """A record a comparison, as JSON can hold it: an infinite end is None."""
    found = []
    for line in lines(bundle):
        ends = {end: value if math.isfinite(value := getattr(line, end)) else None for end in ("low", "high")}
        said = {"outcome": outcome(bundle.plan, line), "state": line.state.value}
        found.append(line._asdict() | ends | {"verdict": line.verdict.value} | said)
    return found
