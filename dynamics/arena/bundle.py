"""An arena in one file, its bytes recorded by a hash beside it: plan, losses seed by seed, what a step costs where."""

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any, Self

from pydantic import model_validator

from dynamics.arena.engine import Losses, Place, losses, next_runs
from dynamics.arena.plan import ArenaPlan
from dynamics.arena.record import Name, Run, RunResult, Speeds
from dynamics.files.hashed import read_hashed, write_hashed
from dynamics.files.manifest import Strict, counted, package_version
from dynamics.files.shipped import FOLDER

SHIPPED = FOLDER / "arena"
OTHERS = ("igsm", "dissected")  # what else lies there, of modules of their own


class Curves(Strict):
    """What the seeds of an entry left, in the order of the seeds: `RunResult` has the axes."""

    steps: list[int]
    loss: list[list[float | None]]
    by_place: list[list[float | None]]

    def results(self, run: Callable[[int], Run]) -> dict[str, RunResult]:
        """The results of the runs again, which `run` gives by the number of a seed.

        Raises: ValueError, one line, where a run had other steps, or other numbers of seeds and scores.
        """
        counted(len(self.loss), by_place=self.by_place)
        found: dict[str, RunResult] = {}
        for first in range(0, len(self.loss), run(0).seeds):
            one = run(first)
            part = slice(first, first + one.seeds)
            fields = {"run": one, "steps": self.steps, "loss": self.loss[part], "by_place": self.by_place[part]}
            found[one.name] = RunResult.checked(fields, one.name)
        return found


class Bundle(Strict):
    """The file's contents. version, torch_version, place: what the bytes of results depend on beside the plan.

    Raises: ValueError for an entry that is not in the plan, or numbers of seeds and scores that are not the plan's.
    """

    plan: ArenaPlan
    version: str
    torch_version: str
    place: Place
    curves: dict[Name, Curves]

    @model_validator(mode="after")
    def _of_the_plan(self) -> Self:
        if unknown := self.curves.keys() - self.plan.entries.keys():
            raise ValueError(f"{min(unknown)!r} is no entry of the plan")
        _ = self.results
        return self

    @property
    def losses(self) -> Losses:
        """The last held-out loss of each entry, seed by seed."""
        return losses(self.plan, self.results)

    @property
    def results(self) -> dict[str, RunResult]:
        """The runs again."""
        found: dict[str, RunResult] = {}
        for entry, curves in self.curves.items():
            found |= curves.results(partial(self.plan.run, entry))
        return found


def bundle_of(plan: ArenaPlan, found: Mapping[str, RunResult], place: Place) -> Bundle:
    """Put finished runs together; of each entry those that follow one another from the first seed on."""
    import torch

    curves = {}
    for entry, one in plan.entries.items():
        mine: list[RunResult] = []
        while (name := plan.run(entry, len(mine) * one.stack).name) in found:
            mine.append(found[name])
        if mine:
            loss = [seed for part in mine for seed in part.loss]
            by_place = [seed for part in mine for seed in part.by_place]
            curves[entry] = Curves(steps=mine[0].steps, loss=loss, by_place=by_place)
    return Bundle(
        plan=plan, version=package_version(), torch_version=torch.__version__, place=place, curves=curves
    )  # fmt: skip


def write_bundle(path: str | Path, bundle: Bundle) -> None:
    """Write it, a line an entry, and its hash beside it. Raises: ValueError, one line, for an unfinished arena."""
    _check_finished(path, bundle)
    write_hashed(path, bundle.model_dump_json().replace('},"', '},\n"') + "\n")


def read_bundle(path: str | Path) -> Bundle:
    """Read a bundle.

    Raises: OSError: no such file. ValueError, one line: other bytes than recorded, no bundle, or a run is missing.
    """
    bundle = Bundle.parsed(read_hashed(path), str(path))
    _check_finished(path, bundle)
    return bundle


def _check_finished(path: str | Path, bundle: Bundle) -> None:
    for run in next_runs(bundle.plan, bundle.losses):
        raise ValueError(f"{path}: the arena is not finished: there is no {run.name}")


def write_timed(path: str | Path, timed: Strict) -> None:
    """Write measured speeds or ways and their hash beside them."""
    write_hashed(path, timed.model_dump_json(indent=1) + "\n")


def shipped_timed(plan: ArenaPlan, record: type[Any]) -> Any:
    """The speeds or ways that come with the package for a plan, or None. Raises: ValueError as `read_bundle`."""
    for path in sorted(SHIPPED.glob(f"*.{record.__name__.lower()}.json")):
        found = record.parsed(read_hashed(path), str(path))
        if found.plan_sha256 == plan.sha256:
            return found
    return None


def shipped_speeds(plan: ArenaPlan) -> Speeds | None:
    """The speeds that come with the package for a plan, or None. Raises: ValueError as `read_bundle`."""
    return shipped_timed(plan, Speeds)


def shipped_names() -> list[str]:
    """The arenas that come with the package."""
    return sorted(path.stem for path in SHIPPED.glob("*.json") if "." not in path.stem and path.stem not in OTHERS)


def shipped_arena(name: str) -> Bundle:
    """An arena that comes with the package. Raises ValueError where there is none of that name."""
    known = shipped_names()
    if name not in known:
        raise ValueError(f"no shipped arena {name!r}; there are {', '.join(known) or 'none'}")
    return read_bundle(SHIPPED / f"{name}.json")
