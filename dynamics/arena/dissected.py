"""What is measured on the models of an arena while they train and at their end, as checked data in one file."""

from functools import partial
from typing import Annotated, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator

from dynamics.arena.bundle import SHIPPED, Bundle, Curves
from dynamics.arena.engine import Place
from dynamics.arena.plan import Entry
from dynamics.arena.record import Name, Run, RunResult
from dynamics.files.hashed import Hashed
from dynamics.files.manifest import Positive, Several, Strict, counted
from dynamics.observed.log import Line, Row, stacked

FILE = SHIPPED / "dissected.json"
DIGITS = 3  # significant, of a score; losses at the end have DECIMALS
DECIMALS = 5


class Looks(Strict):
    """What is looked at, the same for every model.

    moments: besides the start, evenly in log steps from `first` to the last step. Held-out documents of more than
    `window` bytes: of `windows` of them the first `window` bytes are read at each moment, of `changed` at the end, as
    they are and with a waiver; of `targets` the byte after them is foretold from the last 1, 2, 4, .. `window` bytes.
    prompts: of `k` tokens, each more than one in `rarest` of the text's, repeated `repeats` times. waiver: the token of
    each window that is masked or swapped with the first.
    """

    moments: Several = 9
    first: Positive = 3
    window: Annotated[int, Field(ge=8)] = 128
    windows: Positive = 32
    changed: Positive = 128
    targets: Positive = 1024
    prompts: Positive = 16
    k: Annotated[int, Field(ge=3)] = 16
    repeats: Several = 4
    rarest: Positive = 2000
    waiver: Positive = 16

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if self.waiver > self.window - 3:
            raise ValueError(f"two tokens at least must come after the waiver, got {self.waiver} of {self.window}")
        return self

    def steps(self, last: int) -> list[int]:
        """The updates done at each moment of a training of so many."""
        found = np.geomspace(min(self.first, last), last, self.moments)
        return sorted({0, *(round(step) for step in found)})

    def check(self, found: "Seen", last: int, what: str) -> None:
        """Raises: ValueError for what was seen at other moments, or with other contexts, of a training of so many."""
        if [line.step for line in found.moments] != self.steps(last) or len(found.contexts) != len(self.contexts):
            raise ValueError(f"{what}: not seen after {self.steps(last)} steps, or not with {self.contexts} tokens")

    @property
    def contexts(self) -> list[int]:
        """1, 2, 4, .. up to the window."""
        return [2**n for n in range(self.window.bit_length()) if 2**n <= self.window]


class DissectionPlan(Strict):
    """Entries of an arena, of each the seeds 0 .. seeds - 1, and what is looked at."""

    title: str
    entries: dict[Name, Entry]
    seeds: Positive
    looks: Looks

    @property
    def runs(self) -> list[Run]:
        """All runs, entry by entry; the arena has the same ones under the same names."""
        return [self.run(entry, seed) for entry in self.entries for seed in range(self.seeds)]

    def run(self, entry: str, seed: int) -> Run:
        """The run of one seed of an entry, trained alone instead of in a stack."""
        found = self.entries[entry]
        training = found.training.model_copy(update={"seed": seed})
        return Run(name=f"{entry}.seed-{seed}", config=found.config, training=training)


class Change(Strict):
    """How a trained model changes if a token is made a waiver: means over windows, and for weights over heads as well.

    loss_before, loss_after: of the next token, nats; later_before, later_after: without the targets up to the one that
    the waiver itself foretells. divergence: KL(before || after) at the last token. waiver_.., first_..: by layer, the
    mean weight that the waiver's place and the first one are given by the queries after them.
    """

    loss_before: float
    loss_after: float
    later_before: float
    later_after: float
    divergence: float
    waiver_before: Row
    waiver_after: Row
    first_before: Row
    first_after: Row


class Seen(Strict):
    """What is seen of one run. moments: sinks and states are those of the text; mask: the waiver sees itself alone, in
    all layers and heads; swap: it and the first token exchange their places, where places are learnt; contexts: loss of
    the same targets from the last 1, 2, 4, .. tokens.
    """

    moments: list[Line]
    mask: Change
    swap: Change | None
    contexts: Row


class Dissection(Hashed):
    """The file's contents: what training left, as the arena has it, and what was seen, seed by seed.

    version, torch_version, place: what the bytes of results depend on beside the plan.
    Raises: ValueError for entries, or numbers of seeds, scores and moments, that are not the plan's.
    """

    shipped = FILE
    lines = '},\n{"step"'

    plan: DissectionPlan
    version: str
    torch_version: str
    place: Place
    curves: dict[Name, Curves]
    seen: dict[Name, list[Seen]]

    @model_validator(mode="after")
    def _of_the_plan(self) -> Self:
        entries = self.plan.entries
        if not self.curves.keys() == self.seen.keys() == entries.keys():
            raise ValueError(f"the entries are {sorted(entries)}, got {sorted(self.curves)} and {sorted(self.seen)}")
        for entry, one in entries.items():
            counted(self.plan.seeds, loss=self.curves[entry].loss, seen=self.seen[entry])
            self.curves[entry].results(partial(self.plan.run, entry))
            for found in self.seen[entry]:
                self.plan.looks.check(found, one.training.steps, entry)
        return self


def dissection_of(plan: DissectionPlan, results: list[RunResult], seen: list[Seen], place: Place) -> Dissection:
    """Put all runs together, in the order of `plan.runs`."""
    import torch

    from dynamics.files.manifest import package_version

    curves, found = {}, {}
    for number, entry in enumerate(plan.entries):
        mine = slice(number * plan.seeds, (number + 1) * plan.seeds)
        one = results[mine]
        loss, by_place = [result.loss[0] for result in one], [result.by_place[0] for result in one]
        curves[entry] = Curves(steps=one[0].steps, loss=loss, by_place=by_place)
        found[entry] = seen[mine]
    return Dissection(
        plan=plan, version=package_version(), torch_version=torch.__version__, place=place, curves=curves, seen=found
    )  # fmt: skip


def scores(found: Dissection, entry: str, name: str) -> NDArray[np.float64]:
    """A score of the log over the runs of an entry, (seeds, moments, ..), NaN for None."""
    return np.stack([stacked(one.moments, name) for one in found.seen[entry]])


def strays(found: Dissection, league: Bundle) -> list[str]:
    """The runs whose losses differ in any digit from those of the same run in the league."""
    wrong = []
    for entry, one in found.plan.entries.items():
        if league.plan.entries.get(entry) != one:
            continue
        theirs = league.curves[entry]
        for seed, pair in enumerate(zip(found.curves[entry].loss, found.curves[entry].by_place, strict=True)):
            if pair != (theirs.loss[seed], theirs.by_place[seed]):
                wrong.append(f"{entry}.seed-{seed}")
    return wrong


write_dissection, read_dissection = Dissection.write, Dissection.read
