"""The sweep figure: its data against the results, and what it says of runs that never arrive."""

import math

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from dynamics.model.config import ModelConfig
from dynamics.sweep.record import Job, Measure, result_of
from dynamics.tasks.induction import Induction
from dynamics.training.settings import TrainConfig
from scripts.figures import palette
from scripts.figures.trained.fig_sweep import compute, draw
from scripts.figures.trained.sweep_panels import BANDS, alike, looks

MODEL = ModelConfig(vocab=24, width=8, n_heads=2)
MEASURE = Measure(every=10)


def result(variant, seed, accuracy, budget):
    training = TrainConfig(steps=budget, batch=4, task=Induction(pool=12), heldout_rows=16, seed=seed)
    job = Job(name=f"{variant}.seed-{seed}", config=MODEL, training=training)
    steps = [10 * (k + 1) for k in range(len(accuracy))]
    return result_of(job, MEASURE, steps, accuracy, [1.0] * len(accuracy))


RESULTS = [
    result("fast", 0, [0.5, 0.96], 30),
    result("fast", 1, [0.97], 30),
    result("fast", 2, [0.1, 0.2, 0.96], 30),
    result("slow", 0, [0.1, 0.2, 0.3, 0.4], 40),
    result("slow", 1, [0.1, 0.2, 0.3, 1.0], 40),
]


@pytest.fixture(scope="module")
def data():
    return compute(RESULTS, MEASURE.level, "Two models")


def test_data_holds_each_curve_and_keeps_a_finished_run_where_it_was(data):
    assert data.names.tolist() == ["fast", "slow"]
    assert data.steps.tolist() == [10, 20, 30, 40]
    expected = [[0.5, 0.96, 0.96, 0.96], [0.97] * 4, [0.1, 0.2, 0.96, 0.96]]
    assert_array_equal(data.accuracy[0], expected)
    assert_array_equal(data.accuracy[1, 0], [0.1, 0.2, 0.3, 0.4])
    assert np.isnan(data.accuracy[1, 2]).all()


def test_data_ends_the_curve_of_a_censored_run(data):
    longer = compute([*RESULTS, result("fast", 3, [0.1, 0.1, 0.1], 30)], MEASURE.level)
    assert_array_equal(longer.accuracy[0, 3], [0.1, 0.1, 0.1, math.nan])
    assert longer.times[0].tolist() == [20, 10, 30, math.inf]


def test_data_times_and_medians_count_censored_runs(data):
    assert_array_equal(data.times, [[20, 10, 30], [math.inf, 40, math.nan]])
    assert data.median[0].tolist() == [20, 10, 30]
    assert data.median[1].tolist() == [math.inf, 40, math.inf]
    assert data.budget.tolist() == [30, 40]


def test_figure_marks_every_run_once(data):
    left, right = draw(data).axes[:2]
    marks = [sum(len(line.get_xdata()) for line in right.lines if line.get_marker() == one) for one in "o><"]
    assert marks == [3, 1, 1]  # one was there by the first score, so it may have been sooner
    assert [label.get_text() for label in right.get_yticklabels()] == ["fast", "slow"]
    assert [line.get_label() for line in left.lines[:2]] == ["fast", "slow"]


def test_figure_of_one_seed_has_no_interval_and_says_one_seed():
    found = compute([result("fast", 0, [0.5, 0.96], 30)], MEASURE.level)
    assert str(found.caption).splitlines()[1].startswith("one seed; a run ends at 95 %")
    right = draw(found).axes[1]
    assert "|" not in [line.get_marker() for line in right.lines]


@pytest.mark.parametrize(
    "names", [["vanilla.50M", "kv-shift.50M"], ["none", "k", "kv"], ["kv-shift", "vanilla-2", "x"]]
)
def test_vanilla_is_black_and_kv_shift_blue_and_nothing_else_is(names):
    known = {"vanilla": palette.BLACK, "none": palette.BLACK, "kv": palette.BLUE}
    for name, look in zip(names, looks(names), strict=True):
        model = name.split(".")[0].split("-")[0]
        assert known[model] == look["color"] if model in known else look["color"] not in known.values()
    assert len({look["color"] for look in looks(names)}) == len(names)


def test_labels_of_two_models_that_have_a_hue_take_none_of_theirs():
    found = looks(["kv-shift.text", "vanilla.text", "kv-shift.pair", "vanilla.pair"])
    assert not {palette.BLACK, palette.BLUE} & {look["color"] for look in found}


def test_a_decimal_point_parts_no_name():
    assert looks(["drop-0.5", "drop-1.5"]) == looks(["drop-half", "drop-more"])
    two = looks(["kv.0.8K", "vanilla.0.8K", "kv.0.4M", "vanilla.0.4M"])
    assert two[0]["linestyle"] == two[2]["linestyle"] != two[1]["linestyle"]
    assert two[0]["color"] == two[1]["color"] != two[2]["color"]


def test_curves_that_coincide_are_named_and_both_seen():
    twice = [result(name, 0, [0.5, accuracy], 30) for name, accuracy in (("a", 0.96), ("b", 0.965), ("c", 0.99))]
    found = compute(twice, MEASURE.level)
    assert alike(found) == [(0, 1)]
    figure = draw(found)
    assert any("; b runs as a" in text.get_text() for text in figure.texts)
    widths = [line.get_linewidth() for line in figure.axes[0].lines[:3]]
    assert widths[0] > 2 * widths[1] and widths[1] == widths[2]


def test_a_median_by_the_first_score_is_an_arrow_to_the_left():
    early = [*(result("fast", seed, [0.97], 30) for seed in range(3)), result("slow", 0, [0.1, 0.96], 30)]
    right = draw(compute(early, MEASURE.level)).axes[1]
    tips = [text.xy[0] for text in right.texts]
    assert tips == [right.get_xlim()[0]] and tips[0] < 10
    assert "|" not in [line.get_marker() for line in right.lines]


def test_bands_of_many_curves_are_left_out_and_levels_of_other_tasks_have_their_colours(data):
    many = compute([result(f"v{n}", 0, [0.1 * n, 0.96], 30) for n in range(BANDS + 1)], MEASURE.level)
    panels = [draw(one).axes[0] for one in (data, many)]
    assert [len(panel.collections) for panel in panels] == [2, 0]
    assert ["quartiles" in panel.get_ylabel() for panel in panels] == [True, False]
    apart = draw(data._replace(blind=np.array([0.25, 0.5]))).axes[0]
    hues = [look["color"] for look in looks(data.names.tolist())]
    assert [line.get_color() for line in apart.lines[-2:]] == hues


def test_jobs_that_name_no_seed_are_variants_of_their_own():
    known = result("a", 0, [0.5, 0.96], 30)
    alone = [known.model_copy(update={"job": known.job.model_copy(update={"name": name})}) for name in "ab"]
    assert compute(alone, MEASURE.level).names.tolist() == ["a", "b"]
