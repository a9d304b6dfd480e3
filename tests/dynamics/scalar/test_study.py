"""Records and statistics of the trained scalar models: what is shipped, what is refused, what the fits find."""


import numpy as np
import pytest
from pydantic import ValidationError

from dynamics.files.hashed import read_hashed
from dynamics.files.shipped import FOLDER
from dynamics.scalar import statistics
from dynamics.scalar.record import LearningPair, LearningTimes, ScalarTraining, TableDeviations, read_study, write_study
from dynamics.scalar.study import Plan, plan, run_study
from dynamics.scalar.tables import table_sample
from tests.dynamics.refusal import refused

FINE = ScalarTraining(n_tokens=5, width=4, runs=2, steps=4, rate=0.1, batch=2)
COARSE = FINE.model_copy(update={"rate": 0.2, "steps": 2})
INSIDE = FINE.model_copy(update={"law": "interior"})


@pytest.fixture(scope="module")
def study():
    calls = []
    found = run_study(Plan(((FINE, COARSE),), (INSIDE,)), lambda: calls.append(1))
    assert len(calls) == 3  # after each training
    return found


def test_study_is_read_as_it_was_written_and_refused_in_one_line_when_changed(study, tmp_path):
    path = tmp_path / "study.json"
    write_study(path, study)
    assert read_study(path) == study
    assert sorted(path.name for path in tmp_path.iterdir()) == ["study.json", "study.json.sha256"]
    path.write_text(path.read_text().replace('"rate":0.1', '"rate":0.3', 1))
    refused(r"study\.json: not the bytes", read_study, path)


def test_shipped_study_holds_the_plan():
    shipped, planned = read_study(), plan()
    assert tuple((pair.fine.training, pair.coarse.training) for pair in shipped.learning) == planned.learning
    assert tuple(result.training for result in shipped.tables) == planned.tables
    assert all(None not in (*pair.fine.times, *pair.coarse.times) for pair in shipped.learning)


def test_every_shipped_file_has_its_hash_beside_it_or_in_its_manifest():
    files = [path for path in FOLDER.rglob("*") if path.is_file()]
    weights = [path for path in files if path.name in ("weights.safetensors", "manifest.json")]
    results = [path for path in files if path.suffix != ".sha256" and path not in weights and path.parent != FOLDER]
    assert len(results) >= 20 and {path.parent.parent.name for path in weights} == {"models", "h100"}
    for path in results:
        assert read_hashed(path)


def test_quick_plan_is_a_small_part_of_the_whole():
    quick, full = plan(quick=True), plan()
    assert len(quick.learning) == 3 and [t.width for t in quick.tables] == [32, 64, 128, 256, 512]
    assert plan(seed=5).tables[0].seed == full.tables[0].seed + 5


BAD = [{"n_tokens": 1}, {"width": 0}, {"runs": 0}, {"rate": 0.0}, {"rate": float("inf")}, {"start": (0.0,) * 3},
       {"law": "first"}, {"n_tokens": 3, "law": "interior"}, {"start": (float("nan"),) * 4}, {"batch": 0}]  # fmt: skip


@pytest.mark.parametrize("change", BAD, ids=str)
def test_training_refuses_settings_out_of_range(change):
    with pytest.raises(ValidationError):
        ScalarTraining(**{**FINE.model_dump(), **change})


def test_records_refuse_parts_that_do_not_fit():
    times = LearningTimes(training=FINE, times=(1.0, None), path_times=(0.0,), path_loss=(1.0,))
    with pytest.raises(ValidationError):
        LearningPair(fine=times, coarse=times)
    with pytest.raises(ValidationError):
        LearningTimes(training=FINE, times=(1.0,), path_times=(), path_loss=())
    with pytest.raises(ValidationError):
        TableDeviations(training=INSIDE, deviation=((0.0,) * 4,), diagonal=(0.0, 0.0), off_diagonal=(0.0, 0.0))


def test_extrapolation_removes_what_is_linear_in_the_rate():
    rng = np.random.default_rng(0)
    fine, coarse = (10 + 3 * rate + 0.01 * rng.normal(size=20) for rate in (0.1, 0.2))
    found = statistics.extrapolated_mean(fine, coarse)
    assert found.low < 10 < found.high
    assert found.value == pytest.approx(2 * fine.mean() - coarse.mean())
    assert 0 < found.high - found.low < 0.1


@pytest.mark.parametrize("times", [[], [1.0], [1.0, None], [np.nan, 1.0]])
def test_extrapolation_refuses_runs_that_did_not_arrive(times):
    refused("finite", statistics.extrapolated_mean, times, [1.0, 2.0])


def test_interval_of_a_mean_covers_as_often_as_it_says():
    values = np.random.default_rng(1).normal(size=(150, 2, 12))
    found = [statistics.extrapolated_mean(*rows, confidence=0.9, seed=k) for k, rows in enumerate(values)]
    assert np.mean([f.low < 0 < f.high for f in found]) == pytest.approx(0.9, abs=0.075)  # three standard errors
    assert all(f.low < f.value < f.high for f in found)


@pytest.mark.parametrize("power", [-0.5, -1.0])
def test_exponent_of_a_power_law_is_found(power):
    rng, widths = np.random.default_rng(2), [32, 128, 512]
    samples = [width**power * (1 + 0.1 * rng.normal(size=(60, 4))) for width in widths]
    for statistic in (statistics.spread, statistics.shift_along(np.ones(4))):
        found = statistics.exponent(widths, samples, statistic)
        assert found.low < power < found.high and found.high - found.low < 0.05


def test_statistics_are_the_root_mean_square_length_and_a_projection():
    values = np.array([[3.0, 4.0, 0.0, 0.0], [0.0, 0.0, 0.0, 1.0]])
    assert statistics.spread(values) == pytest.approx(np.sqrt(13))
    assert statistics.shift_along(np.array([0.0, 2.0, 0.0, 0.0]))(values) == pytest.approx(2.0)
    found = statistics.estimate(values, statistics.spread)
    assert found.low == 1.0 and found.high == 5.0


def test_parts_of_a_deviation_add_up_to_it():
    result = read_study().tables[0]
    sample = table_sample(result)
    rest = sample.deviation - sample.explained - sample.unexplained
    np.testing.assert_allclose(rest, rest[:1].repeat(len(rest), 0), atol=1e-15)
    assert np.abs(rest).max() < 1e-3
