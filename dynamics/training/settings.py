"""Settings of a training on a task as checked data, and those of the presets; no torch, so command lines stay quick."""

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import Field, PositiveFloat, model_validator

from dynamics.files.manifest import Count, Decay, Fraction01, Open01, Seed, Share, Strict
from dynamics.model.config import COMPARED, PRESETS
from dynamics.tasks.induction import Induction
from dynamics.tasks.task import AnyTask


class TrainConfig(Strict):
    """AdamW with linear warm-up and a cosine down to final_lr of the peak (1: constant); every batch is drawn anew.

    task: what is learnt, with its own settings: `Induction`, `Trigram`, `Hop`, `MQAR` of `dynamics.tasks`, or another
    package's. A record as it was written when every task's settings lay side by side is read as well (`by_task`).
    """

    steps: Annotated[int, Field(ge=1, le=10_000_000)] = 500
    batch: Annotated[int, Field(ge=1, le=1_000_000)] = 256
    learning_rate: Share = 3e-3
    warmup: Count = 20
    final_lr: Fraction01 = 1.0
    weight_decay: Decay = 0.0
    beta2: Open01 = 0.95
    clip: PositiveFloat = 1.0
    seed: Seed = 0
    heldout_rows: Annotated[int, Field(ge=1, le=10_000_000)] = 4096
    task: AnyTask = Induction()

    @model_validator(mode="before")
    @classmethod
    def _of_any_age(cls, data: Any) -> Any:
        return by_task(data) if isinstance(data, Mapping) else data

    def with_task(self, **changes: Any) -> "TrainConfig":
        """The same training on the same task with other settings. Raises: ValueError for a setting it does not have."""
        return self.but(task=self.task.but(**changes))


# Which of the settings that once lay side by side in every record, whatever the task, each task read.
FLAT = {
    "induction": ("pool",),
    "trigram": ("pairs", "length"),
    "hop": ("symbols", "hops", "least_hops", "length"),
    "mqar": ("pairs", "length"),
}
_FLAT_FIELDS = frozenset(name for fields in FLAT.values() for name in fields)


def by_task(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Map an old record, with the settings of all tasks side by side, to one with the task's own under `task`.

    What another task would have read is left out: it never had an effect. Other settings are returned as they are, and
    so is whatever does not name every field of an old record: then nothing is left out in silence.
    """
    name = settings.get("task")
    if not isinstance(name, str) or name not in FLAT or not settings.keys() >= _FLAT_FIELDS:
        return dict(settings)
    rest = {key: value for key, value in settings.items() if key not in _FLAT_FIELDS}
    return rest | {"task": {"name": name} | {key: settings[key] for key in FLAT[name]}}


SMALL_TRAINING = TrainConfig(steps=3000, batch=64, learning_rate=1e-3, task=Induction(pool=12))
TRAININGS = {name: SMALL_TRAINING if name in COMPARED else TrainConfig() for name in PRESETS}
