"""Checked records of the comparison at equal memory: what was trained, what each policy lost, row by row. No torch."""

from fractions import Fraction
from typing import Annotated, Self

from pydantic import Field, NonNegativeFloat, model_validator

from dynamics.comparison.plan import POLICIES, RANDOM
from dynamics.comparison.plan import cells as planned
from dynamics.files.hashed import Hashed
from dynamics.files.manifest import Count, Positive, Strict, counted
from dynamics.files.shipped import FOLDER
from dynamics.model.config import ModelConfig
from dynamics.training.text_settings import TextTraining


class Settings(Strict):
    """One model trained from `seeds` seeds, and what it is measured on: windows of `context` held-out bytes.

    budgets: shares of the full cache, as fractions; sinks: of the policies that have them; text_rows: windows whose
    second half is scored in bits per byte; needle_rows, pairs: windows and questions in each; draws: of random heads;
    score_k: distinct bytes of the prompt that scores heads; centre_rows: training windows for the mean queries.
    """

    config: ModelConfig
    training: TextTraining
    seeds: Positive = 3
    context: Annotated[int, Field(ge=32)] = 256
    budgets: tuple[str, ...] = ("1/2", "8/25", "1/4", "1/8")
    sinks: Count = 4
    text_rows: Positive = 32
    needle_rows: Positive = 32
    pairs: Positive = 8
    draws: Positive = 3
    score_k: Annotated[int, Field(ge=3)] = 64
    centre_rows: Positive = 8

    @model_validator(mode="after")
    def _budgets_are_shares(self) -> Self:
        for budget in self.budgets:
            if not 0 < Fraction(budget) <= 1:
                raise ValueError(f"budgets must lie in (0, 1], got {budget}")
        return self


class Heads(Strict):
    """Scores (layers, heads) of one trained model, and which heads each number of protected ones means."""

    seed: int
    echo: tuple[tuple[float, ...], ...]
    induction: tuple[tuple[float, ...], ...]
    ranking: tuple[tuple[int, int], ...]
    protected: int


class Cell(Strict):
    """One policy at one budget: entries kept, bits per byte of each text row, right answers in each needle row.

    With random heads the rows of all draws follow each other.
    """

    seed: int
    policy: str
    budget: str
    entries: int
    bits: tuple[NonNegativeFloat, ...]
    hits: tuple[Count, ...]

    @model_validator(mode="after")
    def _known(self) -> Self:
        if self.policy not in POLICIES:
            raise ValueError(f"no policy {self.policy!r}")
        return self


def _count(settings: Settings, heads: tuple[Heads, ...], cells: tuple[Cell, ...]) -> int:
    """The number of cells of a whole comparison. Raises: ValueError for cells that are not its first ones."""
    for cell in cells:
        draws = settings.draws if cell.policy == RANDOM else 1
        counted(draws * settings.text_rows, bits=cell.bits)
        counted(draws * settings.needle_rows, hits=cell.hits)
        if max(cell.hits) > settings.pairs:
            raise ValueError(f"hits: {max(cell.hits)} right of {settings.pairs}")
    plan = list(planned(tuple(map(Fraction, settings.budgets))))
    wanted = [(one.seed, policy, str(budget)) for one in heads for policy, budget in plan]
    if [(cell.seed, cell.policy, cell.budget) for cell in cells] != wanted[: len(cells)]:
        raise ValueError("cells: not those of the plan, in its order")
    return len(wanted)


class Part(Strict):
    """What one seed has given so far; the file that an interrupted comparison resumes from."""

    settings: Settings
    heads: Heads
    cells: tuple[Cell, ...]

    @model_validator(mode="after")
    def _counted(self) -> Self:
        _count(self.settings, (self.heads,), self.cells)
        return self


class Comparison(Hashed):
    """All results of one command, with what made them."""

    shipped = FOLDER / "comparison" / "compare.json"

    version: str
    torch_version: str
    device: str
    settings: Settings
    heads: tuple[Heads, ...]
    cells: tuple[Cell, ...]

    @model_validator(mode="after")
    def _counted(self) -> Self:
        counted(self.settings.seeds, heads=self.heads)
        counted(_count(self.settings, self.heads, self.cells), cells=self.cells)
        return self


write_comparison, read_comparison = Comparison.write, Comparison.read
