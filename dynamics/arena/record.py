"""A run of the arena as checked data: a model, its training on packed rows, a block of seeds, and what it leaves."""

from typing import Annotated, Literal, Self

from pydantic import Field, PositiveFloat, model_validator

from dynamics.files.manifest import Count, Decay, Fraction01, Loss, Open01, Positive, Seed, Share, Strict, counted
from dynamics.model.config import ModelConfig
from dynamics.tasks.packed import Packing

Name = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._+-]{0,99}$")]
Precision = Literal["float32", "bfloat16"]  # of matmuls while training
PLACES = 8
Compared = PositiveFloat | None  # a loss of which a logarithm is taken


class PackedTraining(Strict):
    """AdamW with warm-up and a cosine on packed rows of a text; every batch is a function of (seed, step).

    corpus: the hash of the text, so that a run on another one is another run; rows, length: of a step; heldout_rows:
    rows of the held-out text, the same for every model and seed; scores: how often they are scored, evenly.
    """

    corpus: str
    packing: Packing = "documents"
    steps: Positive
    rows: Positive = 16
    length: Annotated[int, Field(ge=8, le=65536)] = 128
    learning_rate: Share = 5e-3
    warmup: Count = 30
    final_lr: Fraction01 = 0.1
    weight_decay: Decay = 0.1
    beta2: Open01 = 0.95
    clip: PositiveFloat = 1.0
    seed: Seed = 0
    heldout_rows: Positive = 256
    scores: Positive = 4

    @model_validator(mode="after")
    def _scores_fit(self) -> Self:
        if self.scores > self.steps:
            raise ValueError(f"{self.scores} scores need as many steps, got {self.steps}")
        return self

    @property
    def scored(self) -> list[int]:
        """The steps after which the model is scored."""
        return [round(self.steps * n / self.scores) for n in range(1, self.scores + 1)]


class Run(Strict):
    """Models of one configuration that train side by side, one for each seed from training.seed on.

    How many are stacked belongs to what a run is: a stack rounds otherwise than its models alone.
    """

    name: Name
    config: ModelConfig
    training: PackedTraining
    seeds: Positive = 1

    @property
    def members(self) -> list[PackedTraining]:
        """The training of each of its seeds."""
        first = self.training.seed
        return [self.training.model_copy(update={"seed": first + n}) for n in range(self.seeds)]


class RunResult(Strict):
    """What a run leaves: held-out loss in nats a token, seed by seed.

    steps: updates done at each score; loss: (seeds, scores); by_place: (seeds, 8), at the end, of tokens at places
    [2^i, 2^(i+1)) of their document; None where a number is not finite.
    Raises: ValueError for other steps than those of the scores, or other numbers of losses.
    """

    run: Run
    steps: list[int]
    loss: list[list[Compared]]
    by_place: list[list[Loss]]

    @model_validator(mode="after")
    def _counted(self) -> Self:
        if self.steps != (scored := self.run.training.scored):
            raise ValueError(f"steps: {self.steps} where there must be {scored}")
        counted(self.run.seeds, loss=self.loss, by_place=self.by_place)
        for loss, by_place in zip(self.loss, self.by_place, strict=True):
            counted(len(scored), loss=loss)
            counted(PLACES, by_place=by_place)
        return self


class Speed(Strict):
    """tokens_per_second: of training, one thread, median; seconds: of each step, round by round."""

    tokens_per_second: float
    seconds: list[float]


class Speeds(Strict):
    """What a step of each entry cost on one machine: beside an arena, as no result depends on it."""

    plan_sha256: str
    torch_version: str
    processor: str
    speeds: dict[str, Speed]

