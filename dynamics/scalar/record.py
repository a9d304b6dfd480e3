"""Checked records of the trained scalar models: settings, results and a whole study. No torch here."""

from typing import Annotated, Literal, Self

from pydantic import Field, PositiveFloat, model_validator

from dynamics.files.hashed import Hashed
from dynamics.files.manifest import Positive, Seed, Strict
from dynamics.files.shipped import FOLDER

Four = tuple[float, float, float, float]


class ScalarTraining(Strict):
    """`runs` models of `n_tokens` tokens and width `width`, trained from one start by plain gradient descent.

    law: the repeated position i is uniform on 1..T-1 ("mean", the paper's generator) or on 2..T-2 ("interior").
    A step of size `rate` stands for that much time of the gradient flow.
    """

    n_tokens: Annotated[int, Field(ge=2, le=100_000)]
    width: Positive
    runs: Positive
    steps: Positive
    rate: PositiveFloat
    batch: Positive
    start: Four = (0.5, 0.5, 0.5, 0.5)
    law: Literal["mean", "interior"] = "mean"
    seed: Seed = 0

    @model_validator(mode="after")
    def _has_inside(self) -> Self:
        if self.law == "interior" and self.n_tokens < 4:
            raise ValueError(f"interior positions need n_tokens >= 4, got {self.n_tokens}")
        return self

    @property
    def position(self) -> Literal["mean"] | None:
        """The law as a position of `theory.landscape`."""
        return None if self.law == "interior" else "mean"


class LearningTimes(Strict):
    """times, one a run: when the closed-form loss at the trained scalars first was at the level (None: never).

    path_times, path_loss: the median of that loss over runs, for drawing.
    """

    training: ScalarTraining
    times: tuple[float | None, ...]
    path_times: tuple[float, ...]
    path_loss: tuple[float, ...]

    @model_validator(mode="after")
    def _sizes_agree(self) -> Self:
        if len(self.times) != self.training.runs or len(self.path_times) != len(self.path_loss):
            raise ValueError("one time a run and one loss a time of the path are needed")
        return self


class LearningPair(Strict):
    """The same model trained at a rate and at twice that rate: the error of the step, linear in it, drops out."""

    fine: LearningTimes
    coarse: LearningTimes

    @model_validator(mode="after")
    def _rates_double(self) -> Self:
        fine, coarse = self.fine.training, self.coarse.training
        if coarse.rate != 2 * fine.rate or (coarse.n_tokens, coarse.start) != (fine.n_tokens, fine.start):
            raise ValueError("a pair is one model at a rate and at twice that rate")
        return self


class TableDeviations(Strict):
    """deviation, one row a run: the scalars at the last step less those of the flow at that time.

    diagonal, off_diagonal, one a run: the means of G_jj - 1 and of G_jk (j != k) of its frozen embeddings.
    """

    training: ScalarTraining
    deviation: tuple[Four, ...]
    diagonal: tuple[float, ...]
    off_diagonal: tuple[float, ...]

    @model_validator(mode="after")
    def _sizes_agree(self) -> Self:
        if {len(self.deviation), len(self.diagonal), len(self.off_diagonal)} != {self.training.runs}:
            raise ValueError("one deviation and two table means a run are needed")
        return self


class ScalarStudy(Hashed):
    """All results of one command, with what made them."""

    shipped = FOLDER / "scalar" / "study.json"

    version: str
    torch_version: str
    learning: tuple[LearningPair, ...]
    tables: tuple[TableDeviations, ...]


write_study, read_study = ScalarStudy.write, ScalarStudy.read
