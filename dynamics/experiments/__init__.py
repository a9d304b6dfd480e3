"""What an experiment is: models by name, each with its own training, scored alike. One module a group of figures.

Every module named in `EXPERIMENTS` exports `PRESETS`, presets by name. A name may end in -quick (minutes on two cores)
or -paper (the paper's own size, for an accelerator); the bare name is the experiment whose results are shipped.
"""

from collections.abc import Mapping
from typing import Literal, NamedTuple

from dynamics.model.config import ModelConfig
from dynamics.sweep.record import Job, Measure
from dynamics.training.settings import TrainConfig

EXPERIMENTS = ("induction", "variants", "tasks", "decoupling")
QUICK, PAPER = "-quick", "-paper"


class Variant(NamedTuple):
    """One curve of a figure: a model and how it is trained; the seed of the training is replaced."""

    config: ModelConfig
    training: TrainConfig


class SweepPreset(NamedTuple):
    """Variants by name, how they are scored, how many seeds each has, what they show, and the numbers they train in."""

    variants: Mapping[str, Variant]
    measure: Measure
    seeds: int
    title: str
    precision: Literal["float32", "bfloat16"] = "float32"

    def jobs(self, seeds: int | None = None) -> list[Job]:
        """A job `<variant>.seed-<k>` a variant and seed, k = 0, 1, .."""
        return [
            Job(name=f"{name}.seed-{seed}", config=config, training=training.model_copy(update={"seed": seed}))
            for name, (config, training) in self.variants.items()
            for seed in range(self.seeds if seeds is None else seeds)
        ]


def variant_of(job: str) -> str:
    """The variant's name in a job's name; that of a job that names no seed is its own."""
    return job.rsplit(".seed-", 1)[0]


def alike(models: Mapping[str, ModelConfig], training: TrainConfig) -> dict[str, Variant]:
    """Variants that differ in the model only."""
    return {name: Variant(config, training) for name, config in models.items()}
