"""Two models that learn to solve iGSM-like problems, compared by what they solve: plan, runs, results. No torch.

The arena's plan compares losses on a text; this one shares of held-out problems, several of one pair of models, so that
a run serves all comparisons. The arena's engine runs both.
"""

import hashlib
from typing import Annotated, Self

from pydantic import Field, PositiveFloat, model_validator

from dynamics.arena.record import Name
from dynamics.files.manifest import Count, Decay, Fraction01, Loss, Open01, Positive, Seed, Share, Strict, counted
from dynamics.model.config import ModelConfig
from dynamics.statistics.rule import Name as Words
from dynamics.statistics.rule import Plan, Rule
from dynamics.tasks.igsm import IGSM

PARTS = 10  # of the steps, of each of which the mean loss is kept


class SolvingTraining(Strict):
    """AdamW with warm-up and a cosine on packed problems with solutions; every batch is a function of (seed, step).

    task: the problems trained on, of its training templates, of which solutions alone are scored; tested: operations of
    the held-out problems, exactly so many, of test templates; problems: of each, the same for every model and seed.
    """

    task: IGSM
    tested: Annotated[tuple[Positive, ...], Field(min_length=1)]
    problems: Positive
    steps: Annotated[int, Field(ge=PARTS)]
    rows: Positive = 8
    length: Annotated[int, Field(ge=8, le=65536)] = 192
    learning_rate: Share = 3e-3
    warmup: Count = 50
    final_lr: Fraction01 = 0.1
    weight_decay: Decay = 0.01
    beta2: Open01 = 0.95
    clip: PositiveFloat = 1.0
    seed: Seed = 0

    @model_validator(mode="after")
    def _held_out(self) -> Self:
        if self.task.part != "train":
            raise ValueError(f"models train on the templates of 'train', got {self.task.part!r}")
        if list(self.tested) != sorted(set(self.tested)):
            raise ValueError(f"tested must rise, got {list(self.tested)}")
        for operations in self.tested:
            self.task.at(operations)
        return self


class SolvingRun(Strict):
    """One model, and its training with its seed."""

    name: Name
    config: ModelConfig
    training: SolvingTraining

    @property
    def seeds(self) -> int:
        """How many seeds the run has: one. A run of the arena can have several."""
        return 1


class Solved(Strict):
    """What a run leaves. answered, right: how many of the held-out problems of each tested number of operations have
    some step that gives the question its value, and a solution without a mistake; loss: in training, nats a token of
    solutions, the mean over each tenth of the steps, None where it is not finite.
    """

    answered: list[int]
    right: list[int]
    loss: list[Loss]


class SolvingResult(Strict):
    """A run and what it left. Raises: ValueError for numbers of problems that it did not have."""

    run: SolvingRun
    solved: Solved

    @model_validator(mode="after")
    def _counted(self) -> Self:
        training = self.run.training
        for counts in (self.solved.answered, self.solved.right):
            if len(counts) != len(training.tested) or not all(0 <= count <= training.problems for count in counts):
                raise ValueError(f"{counts}: not of {len(training.tested)} times {training.problems} problems")
        if any(right > answered for right, answered in zip(self.solved.right, self.solved.answered, strict=True)):
            raise ValueError(f"right: {self.solved.right}, more than {self.solved.answered} are answered")
        counted(PARTS, loss=self.solved.loss)
        return self


def measures(training: SolvingTraining) -> dict[str, tuple[str, int]]:
    """The accuracies by name: which counts of `Solved`, and which place in them."""
    return {
        f"{kind}, {operations} operations": (kind, place)
        for kind in ("answered", "right")
        for place, operations in enumerate(training.tested)
    }


class SolvingPlan(Strict):
    """The two models, their training, and the rules by which they are compared.

    rules: for each accuracy that is compared, by its name, the rule for the difference variant less baseline;
    sentences: ids of the papers' claims about the same question at another scale; first_seed: the first seed of the
    plan, while pilot runs use other seeds.

    Raises: ValueError for rules that do not hold one joint level, of no accuracy that is measured, or of other seeds
        than the others; for models that are not the two.
    """

    title: str
    variant: Name
    baseline: Name
    models: dict[Name, ModelConfig]
    training: SolvingTraining
    rules: Annotated[dict[Words, Rule], Field(min_length=1)]
    first_seed: Annotated[int, Field(ge=0, lt=2**62)] = 0
    sentences: tuple[str, ...] = ()

    @model_validator(mode="after")
    def _whole(self) -> Self:
        if self.models.keys() != {self.variant, self.baseline} or self.variant == self.baseline:
            raise ValueError(f"the models are {self.variant!r} and {self.baseline!r}, got {sorted(self.models)}")
        if unknown := self.rules.keys() - measures(self.training).keys():
            raise ValueError(f"{min(unknown)!r} is not measured")
        for name, rule in self.rules.items():
            if rule.metric != name or rule.lower_is_better or rule.most != self.seeds:
                raise ValueError(f"the rule {name!r} is of {rule.metric!r}, {rule.most} seeds of {self.seeds}")
        _ = Plan(rules=self.rules)
        return self

    @property
    def seeds(self) -> int:
        """Paired seeds, all of which are run, whatever is found."""
        return next(iter(self.rules.values())).most

    @property
    def sha256(self) -> str:
        """Hash of the plan, which its results carry."""
        return hashlib.sha256(self.model_dump_json().encode()).hexdigest()

    def run(self, model: str, number: int) -> SolvingRun:
        """The run that trains seed `number` (0, 1, ..) of a model."""
        seed = self.first_seed + number
        training = self.training.model_copy(update={"seed": seed})
        return SolvingRun(name=f"{model}.seed-{seed}", config=self.models[model], training=training)

    @property
    def runs(self) -> dict[str, SolvingRun]:
        """All runs by name, pair by pair."""
        found = [self.run(model, number) for number in range(self.seeds) for model in (self.baseline, self.variant)]
        return {run.name: run for run in found}
