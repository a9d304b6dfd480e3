"""What a sweep is made of, as checked data: jobs, how they are scored, their results, the manifest. No torch."""

import math
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from dynamics.files.manifest import Fraction01, Loss, Positive, Strict, counted
from dynamics.model.config import ModelConfig
from dynamics.training.settings import TrainConfig

# Of the products inside a training step; weights, moments and scores are float32 always.
Precision = Literal["float32", "bfloat16"]
Name = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$")]


class Job(Strict):
    """A named model and its training."""

    name: Name
    config: ModelConfig
    training: TrainConfig

    @property
    def cost(self) -> int:
        """Layers times steps: a measure of time for the progress bar."""
        return self.config.n_layers * self.training.steps


class Measure(Strict):
    """How jobs are scored: every so many steps; with `stop` until held-out accuracy is at least `stop_at`, or level."""

    every: Positive = 20
    level: Fraction01 = 0.95
    stop: bool = True
    stop_at: Fraction01 | None = None
    save_every: Positive = 200

    def steps(self, last: int) -> list[int]:
        """The steps after which a job of so many is scored, if it does not end before."""
        return [*range(self.every, last, self.every), last]

    def done(self, accuracy: float) -> bool:
        """Whether a job with this last score ends."""
        return self.stop and accuracy >= (self.level if self.stop_at is None else self.stop_at)

    def reached(self, steps: list[int], accuracy: list[float]) -> int | None:
        """The first of `steps` with an accuracy of at least the level."""
        return next((step for step, value in zip(steps, accuracy, strict=False) if value >= self.level), None)


class JobResult(Strict):
    """The held-out curve of one job.

    steps: updates done at each score; accuracy, loss: held-out (loss None where it is not finite);
    steps_to_level: the first of steps with accuracy >= level, None if the job ended below it (right-censored).
    Raises: ValueError where these do not fit each other, the job and its measure.
    """

    job: Job
    measure: Measure
    steps: list[int]
    accuracy: list[Fraction01]
    loss: list[Loss]
    steps_to_level: int | None

    @model_validator(mode="after")
    def _counted(self) -> Self:
        count, last = len(self.steps), self.job.training.steps
        counted(count, accuracy=self.accuracy, loss=self.loss)
        if not count or self.steps != self.measure.steps(last)[:count]:
            raise ValueError(f"steps: {count}, which are not those after which the job is scored")
        *before, end = map(self.measure.done, self.accuracy)
        if any(before) or not (end or self.steps[-1] == last):
            raise ValueError(f"accuracy: the job does not end after {self.steps[-1]} steps")
        if self.steps_to_level != (reached := self.measure.reached(self.steps, self.accuracy)):
            raise ValueError(f"steps_to_level: {self.steps_to_level} where the accuracies say {reached}")
        return self

    @property
    def censored(self) -> bool:
        """True where the level was not reached within the job's steps."""
        return self.steps_to_level is None


class SweepManifest(Strict):
    """What a sweep is, from its start; once it is finished also the hash of every result, by job."""

    version: str
    torch_version: str
    device: str
    threads: Positive
    weights: bool
    precision: Precision = "float32"
    measure: Measure
    jobs: tuple[Job, ...]
    sha256: dict[str, str] | None = None


def result_of(
    job: Job, measure: Measure, steps: list[int], accuracy: list[float], loss: list[float | None]
) -> JobResult:
    """The result of a job with these scores. Raises: ValueError, one line, where they are not those of the job."""
    fields = {
        "job": job,
        "measure": measure,
        "steps": steps,
        "accuracy": accuracy,
        "loss": [value if value is not None and math.isfinite(value) else None for value in loss],
        "steps_to_level": measure.reached(steps, accuracy),
    }
    return JobResult.checked(fields, job.name)
