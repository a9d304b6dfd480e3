"""Sweeps: many jobs into one folder under one manifest, resumed after a kill at any moment with the same final bytes.

Folder: manifest.json, results/<job>.json, weights/<job>/ on request, states/ while jobs run. What a job leaves does
not depend on the backend, on the number of processes or on interruptions. A second sweep in the same folder is refused.
On a cluster, start a dask scheduler and its workers (under SLURM for instance with submitit or dask-jobqueue), put the
folder on a file system that they share, and pass `backend="dask", scheduler=ADDRESS`.
"""

from collections.abc import Sequence
from pathlib import Path

import joblib
import torch
from tqdm import tqdm

from dynamics.files.atomic import atomic_write_text, sha256_of
from dynamics.files.lock import LOCK, only_writer
from dynamics.files.manifest import package_version
from dynamics.sweep.job import RESULTS, STATES, WEIGHTS, Place, read_result, result_path, run_job
from dynamics.sweep.record import Job, JobResult, Measure, Precision, SweepManifest
from dynamics.training.loop import choose_device, device_name
from dynamics.training.parallel import check, workers

MANIFEST = "manifest.json"


def run_sweep(
    jobs: Sequence[Job],
    folder: str | Path,
    *,
    measure: Measure | None = None,
    backend: str = "loky",
    n_jobs: int = -1,
    scheduler: str | None = None,
    device: str = "cpu",
    threads: int = 1,
    weights: bool = False,
    precision: Precision = "float32",
    progress: bool = True,
) -> list[JobResult]:
    """Run all jobs that have no result in folder yet, then seal the manifest.

    Args: backend "loky" (n_jobs processes of `threads` threads; -1: one a core), "sequential", or "dask" with the
        scheduler's address; device, where each job trains; weights, keep checkpoints too; precision, of the products
        inside a training step.
    Returns: a result a job, in the order of jobs.
    Raises: ValueError, before anything is written, for arguments that do not fit, a folder of another sweep, or one
        that another process is writing; KeyboardInterrupt on Ctrl-C, with whole files. Calling again goes on.
    """
    measure = Measure() if measure is None else measure
    _check(jobs, backend, n_jobs, scheduler, threads)
    folder, where = Path(folder), str(choose_device(device))
    header = SweepManifest(
        version=package_version(),
        torch_version=torch.__version__,
        device=device_name(where),
        threads=threads,
        weights=weights,
        precision=precision,
        measure=measure,
        jobs=tuple(jobs),
    )
    place = Place(str(folder.absolute()), where, threads, weights, precision)
    with workers(backend, n_jobs, scheduler) as parallel, only_writer(folder):
        _begin(folder, header)
        _run_open(parallel, header, place, progress)
        return _seal(folder, header)


def _run_open(parallel: joblib.Parallel, header: SweepManifest, place: Place, progress: bool) -> None:
    """Run the jobs without a result."""
    jobs, measure = header.jobs, header.measure
    open_jobs = [job for job in jobs if read_result(place.folder, job, measure) is None]
    costs = {job.name: job.cost for job in jobs}
    with _bar(jobs, open_jobs, progress) as bar:
        # Longest first, so that no core waits for one long job at the end.
        ordered = sorted(open_jobs, key=lambda job: -job.cost)
        for name in parallel(joblib.delayed(run_job)(job, measure, place) for job in ordered):
            bar.update(costs[name])


def read_sweep(folder: str | Path) -> tuple[SweepManifest, list[JobResult]]:
    """Return the manifest and the results of a finished sweep, each result checked against its hash.

    Raises: OSError: no manifest. ValueError, one line: not finished, or a file that is not what the manifest says.
    """
    manifest = read_manifest(folder)
    if manifest.sha256 is None:
        raise ValueError(f"{folder}: the sweep is not finished")
    _check_sealed(folder, manifest, whole=True)
    return manifest, [read_result(folder, job, manifest.measure) for job in manifest.jobs]


def read_manifest(folder: str | Path) -> SweepManifest:
    """Read a sweep's manifest. Raises: OSError: no such file. ValueError: it does not hold; one plain line."""
    return SweepManifest.from_file(Path(folder) / MANIFEST)


def _begin(folder: Path, header: SweepManifest) -> None:
    """Write the manifest first: it says what the folder is before anything is in it."""
    if (folder / MANIFEST).exists():
        found = read_manifest(folder)
        for name in type(header).model_fields:
            if name != "sha256" and getattr(found, name) != getattr(header, name):
                raise ValueError(f"{folder}: holds another sweep ({name} differs); choose another folder")
        _check_sealed(folder, found)
        _clean(folder, header.jobs)
        return
    if any(not path.name.endswith(".tmp") and path.name != LOCK for path in folder.iterdir()):
        raise ValueError(f"{folder}: not empty, and no sweep")
    _write(folder, header)


def _check_sealed(folder: str | Path, manifest: SweepManifest, whole: bool = False) -> None:
    """Refuse results that are not the ones a finished sweep recorded, and with `whole` also missing ones."""
    for job in manifest.jobs if manifest.sha256 is not None else ():
        path = result_path(folder, job)
        if (whole or path.exists()) and not (path.exists() and sha256_of(path) == manifest.sha256.get(job.name)):
            raise ValueError(f"{path}: missing, or not the file that the manifest records")


def _seal(folder: Path, header: SweepManifest) -> list[JobResult]:
    """Record the results' hashes and remove what interruptions left; doing it again changes nothing."""
    results = [read_result(folder, job, header.measure) for job in header.jobs]
    hashes = {job.name: sha256_of(result_path(folder, job)) for job in header.jobs}
    sealed = header.model_copy(update={"sha256": hashes})
    if read_manifest(folder) != sealed:
        _write(folder, sealed)
    _clean(folder, header.jobs)
    if (folder / STATES).is_dir():
        (folder / STATES).rmdir()
    return results


def _write(folder: Path, manifest: SweepManifest) -> None:
    atomic_write_text(folder / MANIFEST, manifest.model_dump_json(indent=1) + "\n")


def _clean(folder: Path, jobs: Sequence[Job]) -> None:
    """Remove temporary files of writes that were killed, and states of finished jobs."""
    for part in (folder, folder / RESULTS, folder / STATES, *(folder / WEIGHTS / job.name for job in jobs)):
        for path in part.glob(".*.tmp"):
            path.unlink(missing_ok=True)
    for job in jobs:
        if result_path(folder, job).exists():
            (folder / STATES / f"{job.name}.safetensors").unlink(missing_ok=True)


def _bar(jobs: Sequence[Job], open_jobs: Sequence[Job], progress: bool) -> tqdm:
    total = sum(job.cost for job in jobs)
    return tqdm(
        total=total,
        initial=total - sum(job.cost for job in open_jobs),
        desc=f"{len(open_jobs)} of {len(jobs)} jobs to do",
        bar_format="{desc}: {percentage:3.0f}% |{bar}| {elapsed}, {remaining} left",
        disable=None if progress else True,
    )


def _check(jobs: Sequence[Job], backend: str, n_jobs: int, scheduler: str | None, threads: int) -> None:
    names = [job.name for job in jobs]
    if not names:
        raise ValueError("a sweep needs at least one job")
    if len(set(names)) < len(names):
        raise ValueError(f"job names must differ, {max(names, key=names.count)!r} is there twice")
    for job in jobs:
        try:
            job.training.task.check(job.config.vocab)
        except ValueError as error:
            raise ValueError(f"{job.name}: {error}") from None
    check(backend, n_jobs, scheduler)
    if threads < 1:
        raise ValueError(f"threads must be at least 1, got {threads}")
