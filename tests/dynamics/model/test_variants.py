"""The presets of windows, gates, learning rates and coupling: what they compare, and that they run."""

import pytest

from dynamics.experiments import PAPER, QUICK
from dynamics.experiments.presets import SWEEPS
from dynamics.experiments.variants import PAPER_RATES, PRESETS, RATES
from dynamics.heads.coupling_file import shipped_table
from dynamics.sweep.run import run_sweep
from dynamics.sweep.shipped import shipped_sweep

NAMES = ("windows", "gates", "learning-rates", "vanilla-rates", "coupling")


def test_every_experiment_has_its_three_sizes_and_eight_seeds():
    assert set(PRESETS) == {name + size for name in NAMES for size in ("", QUICK, PAPER)}
    assert all(SWEEPS[name] is preset for name, preset in PRESETS.items())
    assert all(PRESETS[name + size].seeds >= 8 for name in NAMES for size in ("", PAPER))


def test_windows_differ_in_the_window_and_its_initial_law_alone():
    variants = PRESETS["windows"].variants
    assert [(v.config.window, v.config.initial) for v in variants.values()] == [
        (2, "paper"), (3, "paper"), (3, "matched"), (4, "paper"), (4, "matched")
    ]  # fmt: skip
    assert len({v.training for v in variants.values()}) == 1
    assert len({v.config.model_copy(update={"window": 2, "initial": "paper"}) for v in variants.values()}) == 1


def test_gates_differ_in_the_parameters_alone():
    variants = PRESETS["gates"].variants
    assert list(variants) == [v.config.parameters for v in variants.values()] == ["free", "gate", "clip"]
    assert len({v.config.model_copy(update={"parameters": "free"}) for v in variants.values()}) == 1


def test_both_models_have_every_learning_rate():
    assert len(RATES) >= 5
    for size, rates in (("", RATES), (PAPER, PAPER_RATES)):
        for name, shape in (("learning-rates", (1, "kv")), ("vanilla-rates", (2, "none"))):
            mine = PRESETS[name + size].variants.values()
            assert tuple(v.training.learning_rate for v in mine) == rates
            assert {(v.config.n_layers, v.config.shift) for v in mine} == {shape}


def test_coupling_trains_hundreds_of_heads_to_the_end():
    preset = PRESETS["coupling"]
    (variant,) = preset.variants.values()
    assert preset.seeds * variant.config.n_heads >= 256 and not preset.measure.stop
    assert (variant.config.n_layers, variant.config.shift, variant.config.window) == (1, "kv", 2)


@pytest.mark.parametrize("name", NAMES)
def test_quick_presets_run(name, tmp_path):
    preset = PRESETS[name + QUICK]
    few = {"steps": 2, "batch": 4, "heldout_rows": 8}
    jobs = [job.model_copy(update={"training": job.training.model_copy(update=few)}) for job in preset.jobs(1)]
    results = run_sweep(jobs, tmp_path, measure=preset.measure, backend="sequential", progress=False)
    assert [result.job.name for result in results] == [f"{variant}.seed-0" for variant in preset.variants]


@pytest.mark.parametrize("name", NAMES)
def test_shipped_results_are_those_of_the_preset(name):
    manifest, results = shipped_sweep(name)
    preset = SWEEPS[name]
    assert list(manifest.jobs) == preset.jobs() and manifest.measure == preset.measure
    assert [result.job for result in results] == preset.jobs()


def test_shipped_heads_are_those_of_the_coupling_preset():
    table, jobs = shipped_table(), SWEEPS["coupling"].jobs()
    assert (table.config, table.training) == (jobs[0].config, jobs[0].training)
    assert [head.seed for head in table.heads] == [job.training.seed for job in jobs for _ in range(8)]
    accuracy = {r.job.training.seed: r.accuracy[-1] for r in shipped_sweep("coupling").results}
    assert table.accuracy == accuracy
