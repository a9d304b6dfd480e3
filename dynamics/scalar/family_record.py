"""Checked records of the trained members of the family of shifts. No torch here."""

from typing import Annotated, Self

from pydantic import Field, PositiveFloat, model_validator

from dynamics.files.hashed import Hashed
from dynamics.files.manifest import Fraction01, Positive, Seed, Strict
from dynamics.files.shipped import FOLDER

LEARNT = 0.95


class FamilyTraining(Strict):
    """`runs` models side by side on sentences of 3 to `longest` tokens of the vocabulary.

    opposite: own coefficients start below 0, so that own and previous have opposite signs.
    """

    vocabulary: Annotated[int, Field(ge=3, le=1000)] = 8
    longest: Annotated[int, Field(ge=3, le=1000)] = 10
    runs: Positive = 3
    steps: Positive = 1200
    batch: Positive = 32
    rate: PositiveFloat = 0.02
    seed: Seed = 0
    opposite: bool = False


class FamilyCell(Strict):
    """The accuracies on fresh sentences of a member at a width, one a run."""

    member: str
    width: Positive
    training: FamilyTraining
    accuracy: tuple[Fraction01, ...]

    @model_validator(mode="after")
    def _sizes_agree(self) -> Self:
        if len(self.accuracy) != self.training.runs:
            raise ValueError("one accuracy a run is needed")
        return self

    @property
    def learns(self) -> bool:
        """Whether some run answers more than 95 % of fresh sentences."""
        return max(self.accuracy) > LEARNT


class FamilyStudy(Hashed):
    """All cells, with what made them; further: the same members trained otherwise, where a cell and theory disagree."""

    shipped = FOLDER / "scalar" / "family.json"

    version: str
    torch_version: str
    cells: tuple[FamilyCell, ...]
    further: tuple[FamilyCell, ...] = ()


write_family, read_family = FamilyStudy.write, FamilyStudy.read
