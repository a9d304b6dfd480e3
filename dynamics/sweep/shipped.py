"""A finished sweep in one file, its bytes recorded by a hash beside it; those that come with the package.

A bundle holds the sweep's manifest and the held-out curve of each job: accuracies exactly, losses to four decimals.
"""

from pathlib import Path
from typing import NamedTuple

from dynamics.files.hashed import read_hashed, write_hashed
from dynamics.files.manifest import Strict
from dynamics.files.shipped import FOLDER
from dynamics.sweep.record import Job, JobResult, Measure, SweepManifest, result_of

SHIPPED = FOLDER / "sweeps"
DECIMALS = 4


class Curve(Strict):
    """Held-out accuracy and loss of one job at each of its scores."""

    accuracy: list[float]
    loss: list[float | None]


class Bundle(Strict):
    """The file's contents: which preset, its manifest, a curve a job."""

    preset: str
    manifest: SweepManifest
    curves: dict[str, Curve]


class FinishedSweep(NamedTuple):
    """What `read_sweep` returns for a folder; here losses are rounded."""

    manifest: SweepManifest
    results: list[JobResult]


def write_bundle(path: str | Path, preset: str, manifest: SweepManifest, results: list[JobResult]) -> None:
    """Write a finished sweep as one file and `<file>.sha256` beside it, as sha256sum reads it.

    Raises: ValueError for a sweep that is not finished, OSError.
    """
    if manifest.sha256 is None:
        raise ValueError(f"{preset}: the sweep is not finished")
    curves = {result.job.name: _curve(result) for result in results}
    # A line a job keeps the file readable and its changes small.
    text = Bundle(preset=preset, manifest=manifest, curves=curves).model_dump_json().replace('},"', '},\n"') + "\n"
    write_hashed(path, text)


def read_bundle(path: str | Path) -> FinishedSweep:
    """Read a bundle; its bytes must be those that were recorded.

    Raises: OSError: a file is missing. ValueError, one line: a file that is not what its hash or its manifest says.
    """
    bundle = Bundle.parsed(read_hashed(path), str(path))
    jobs = bundle.manifest.jobs
    if sorted(bundle.curves) != sorted(job.name for job in jobs):
        raise ValueError(f"{path}: the curves are not those of the manifest's jobs")
    measure = bundle.manifest.measure
    try:
        return FinishedSweep(bundle.manifest, [_result(job, measure, bundle.curves[job.name]) for job in jobs])
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None


def shipped_sweep(name: str) -> FinishedSweep:
    """Return the results of a preset that come with the package. Raises ValueError where there are none."""
    if name not in shipped_names():
        raise ValueError(f"no shipped results of {name!r}; there are {', '.join(shipped_names()) or 'none'}")
    return read_bundle(SHIPPED / f"{name}.json")


def shipped_names() -> list[str]:
    """The presets whose results come with the package."""
    return sorted(path.stem for path in SHIPPED.glob("*.json"))


def _curve(result: JobResult) -> Curve:
    loss = [None if value is None else round(value, DECIMALS) for value in result.loss]
    return Curve(accuracy=result.accuracy, loss=loss)


def _result(job: Job, measure: Measure, curve: Curve) -> JobResult:
    """The result with its steps."""
    steps = measure.steps(job.training.steps)[: len(curve.accuracy)]
    return result_of(job, measure, steps, curve.accuracy, curve.loss)
