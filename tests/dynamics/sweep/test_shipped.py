"""Bundles: what is written is read back, a changed byte is refused, and the shipped ones are those of their presets."""

import pytest

from dynamics.experiments import variant_of
from dynamics.experiments.presets import SWEEPS
from dynamics.files.atomic import sha256_of
from dynamics.model.config import ModelConfig
from dynamics.sweep import shipped as module
from dynamics.sweep.record import Job, Measure
from dynamics.sweep.run import read_sweep, run_sweep
from dynamics.sweep.shipped import read_bundle, shipped_names, shipped_sweep, write_bundle
from dynamics.tasks.induction import Induction
from dynamics.training.settings import TrainConfig
from tests.dynamics.refusal import flip, refused

TRAINING = TrainConfig(steps=7, batch=4, task=Induction(pool=12), heldout_rows=16)
JOBS = [
    Job(name=f"a.seed-{seed}", config=ModelConfig(vocab=24, width=8, n_heads=2), training=training)
    for seed, training in enumerate((TRAINING, TRAINING.model_copy(update={"seed": 1})))
]


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    folder = tmp_path_factory.mktemp("sweep")
    run_sweep(JOBS, folder, measure=Measure(every=3), backend="sequential", progress=False)
    return read_sweep(folder)


@pytest.fixture
def bundle(finished, tmp_path):
    write_bundle(tmp_path / "tiny.json", "tiny", *finished)
    return tmp_path / "tiny.json"


def test_bundle_gives_back_the_sweep_with_rounded_losses(finished, bundle):
    manifest, results = read_bundle(bundle)
    assert manifest == finished[0]
    assert [result.steps for result in results] == [[3, 6, 7]] * 2
    for found, true in zip(results, finished[1], strict=True):
        assert found == true.model_copy(update={"loss": [round(value, 4) for value in true.loss]})


def test_a_bundle_read_and_written_has_the_same_bytes_and_their_sha256_as_sha256sum_prints_it(bundle, tmp_path):
    write_bundle(tmp_path / "copy.json", "tiny", *read_bundle(bundle))
    assert (tmp_path / "copy.json").read_bytes() == bundle.read_bytes()
    assert bundle.with_name("tiny.json.sha256").read_text() == f"{sha256_of(bundle)}  tiny.json\n"


@pytest.mark.parametrize("name", ["tiny.json", "tiny.json.sha256"])
def test_flipped_byte_is_refused(bundle, name):
    path = bundle.with_name(name)
    flip(path)
    refused("sha256", read_bundle, bundle)


def test_unfinished_sweep_has_no_bundle(finished, tmp_path):
    manifest = finished[0].model_copy(update={"sha256": None})
    refused("not finished", write_bundle, tmp_path / "tiny.json", "tiny", manifest, finished[1])
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", shipped_names())
def test_shipped_results_are_those_of_the_preset_of_their_name(name):
    manifest, results = shipped_sweep(name)
    preset = SWEEPS[name]
    assert (list(manifest.jobs), manifest.measure) == (preset.jobs(), preset.measure)
    assert {variant_of(result.job.name) for result in results} == set(preset.variants)
    assert (module.SHIPPED / f"{name}.json").stat().st_size < 600_000
