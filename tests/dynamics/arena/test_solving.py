"""Two models that learn to solve: the plan as fixed, the same bytes after any kill, what the rules say of counts."""

import signal

import numpy as np
import pytest

from dynamics.arena import solving as module
from dynamics.arena.engine import Place
from dynamics.arena.igsm import OPERATIONS, POWER, PRESETS, SPREAD, VARIANT
from dynamics.arena.solved import accuracies, as_records, bundle_of, lines, read_bundle, write_bundle
from dynamics.arena.solving import heldout, results, run_plan
from dynamics.arena.solving_plan import SolvingPlan, measures
from dynamics.model.sizes import parameters
from dynamics.statistics.power import power
from dynamics.statistics.rule import State, Verdict
from dynamics.statistics.sequence import intervals
from dynamics.tasks.igsm_graph import template_byte
from tests.dynamics.arena.solving_cases import TRAINING, made_up, tiny
from tests.dynamics.folders import check_kills, contents, filled
from tests.dynamics.refusal import refused


def solve(folder):
    return run_plan(tiny(), folder, n_jobs=1, progress=False)


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """The bytes of a folder that nothing interrupts."""
    folder = tmp_path_factory.mktemp("whole") / "igsm"
    solve(folder)
    return contents(folder)


@pytest.mark.parametrize("name", PRESETS)
def test_both_models_have_equal_parameters_and_one_training(name):
    """To half of one MLP unit a layer, which is the finest step there is."""
    plan = PRESETS[name]()
    ours, theirs = (plan.models[model] for model in (plan.variant, plan.baseline))
    assert abs(parameters(ours) - parameters(theirs)) <= 3 * ours.width * ours.n_layers / 2
    assert (ours.shift, theirs.shift) == ("kv", "none")
    changed = {field for field in type(ours).model_fields if getattr(ours, field) != getattr(theirs, field)}
    assert changed <= {"shift", "mlp_width"}
    for number in range(plan.seeds):
        assert plan.run(plan.variant, number).training == plan.run(plan.baseline, number).training
    assert sum(rule.share for rule in plan.rules.values()) == pytest.approx(1)
    assert {rule.least for rule in plan.rules.values()} == {plan.seeds}
    assert min(plan.training.tested) == plan.training.task.operations
    assert len(plan.training.tested) >= 3


def test_the_power_that_is_stated_is_what_is_simulated():
    plan = PRESETS["igsm"]()
    for effect, (better, ahead) in POWER.items():
        found = power(plan.rules[f"answered, {OPERATIONS} operations"], effect, SPREAD, draws=2000).at_end
        assert found[Verdict.BETTER] == pytest.approx(better, abs=0.01)
        assert found[Verdict.BETTER] + found[Verdict.AHEAD] == pytest.approx(ahead, abs=0.01)
        assert found[Verdict.SAME] == 0


def test_held_out_problems_are_of_so_many_operations_and_of_other_templates():
    training = TRAINING.but(problems=20)
    for operations in training.tested:
        found = heldout(training, operations)
        assert {each.graph.operations(each.question) for each in found} == {operations}
        assert all(template_byte(each.graph, each.question) < 64 for each in found)
        assert found == heldout(training, operations)
    rng = np.random.default_rng(0)
    trained = [training.task.problem(rng) for _ in range(20)]
    assert all(template_byte(each.graph, each.question) >= 64 for each in trained)


def test_a_folder_holds_its_plan_and_a_result_a_run(whole, tmp_path, monkeypatch):
    names = [f"results/{model}.seed-{n}.json" for model in ("kv-shift", "vanilla") for n in range(4)]
    assert sorted(whole) == ["place.json", "plan.json", *sorted(names)]
    assert SolvingPlan.parsed(whole["plan.json"], "plan") == tiny()
    monkeypatch.setattr(module, "train", None)
    assert solve(filled(tmp_path / "a", whole)).keys() == tiny().runs.keys()
    refused("kv-shift.seed-0.json: is of no run of this plan", results, tmp_path / "a", tiny(first_seed=9))
    assert contents(tmp_path / "a") == whole


def test_a_model_learns(tmp_path):
    longer = TRAINING.but(steps=40, rows=2, learning_rate=2e-2, tested=(3,))
    run = tiny().run(VARIANT, 0).but(training=longer)
    loss = module.train(run, tmp_path / "r.json", tmp_path / "s", Place()).solved.loss
    assert loss[-1] < loss[0] - 0.3


@pytest.mark.deep
def test_a_folder_killed_before_any_file_operation_ends_with_the_same_bytes(tmp_path):
    assert check_kills({__name__: "solve"}, tmp_path)[0] > 20


def _stopped(*_):
    raise KeyboardInterrupt


def test_an_interrupted_run_goes_on_from_its_state_to_the_same_result(tmp_path, monkeypatch):
    """Ctrl-C after a step, and while the problems are being solved: the state is there, and no step is done twice."""
    run, place, drawn = tiny(first_seed=5).run("vanilla", 1), Place(), []
    assert run.name == "vanilla.seed-6"
    whole = module.train(run, tmp_path / "whole.json", tmp_path / "no-state", place)
    result, state = tmp_path / "r.json", tmp_path / "s.safetensors"
    rng = module.training_rng

    def counted(seed, step):
        drawn.append((seed, step))
        if len(drawn) == 4:
            signal.raise_signal(signal.SIGINT)
        return rng(seed, step)

    monkeypatch.setattr(module, "training_rng", counted)
    with pytest.raises(KeyboardInterrupt):
        module.train(run, result, state, place)
    with monkeypatch.context() as patched:
        patched.setattr(module, "accuracy", _stopped)  # a signal may be heard some bytecodes later
        with pytest.raises(KeyboardInterrupt):
            module.train(run, result, state, place)
    assert state.exists()
    assert not result.exists()
    assert module.train(run, result, state, place) == whole
    assert result.read_bytes() == (tmp_path / "whole.json").read_bytes()
    assert drawn == [(6, step) for step in range(10)]
    assert not state.exists()


def test_other_precision_is_refused(tmp_path):
    run, place = tiny().run("vanilla", 0), Place(precision="bfloat16")
    refused("train in float32, got bfloat16", module.train, run, tmp_path / "r", tmp_path / "s", place)


COUNTS = {"kv-shift": [(2, 1), (2, 1), (1, 1), (2, 0)], "vanilla": [(0, 1)] * 4}


def test_a_bundle_gives_back_what_went_in(tmp_path):
    bundle = bundle_of(tiny(), made_up(tiny(), COUNTS), Place())
    write_bundle(tmp_path / "b.json", bundle)
    assert read_bundle(tmp_path / "b.json") == bundle
    assert [tuple(one.answered) for one in bundle.solved["kv-shift"]] == COUNTS["kv-shift"]
    assert len((tmp_path / "b.json").read_text().splitlines()) == 9


def test_lines_are_differences_of_shares_with_the_rules_intervals():
    bundle = bundle_of(tiny(), made_up(tiny(), COUNTS), Place())
    found = {line.name: line for line in lines(bundle)}
    assert list(found) == list(bundle.plan.rules)
    first = found["answered, 3 operations"]
    d = np.array([1, 1, 0.5, 1])
    low, high = intervals(d, 0.3 / 4, "gaussian")
    assert (first.baseline, first.variant) == (0, pytest.approx(7 / 8))
    assert (first.seeds, first.difference) == (4, pytest.approx(7 / 8))
    assert (first.low, first.high) == (pytest.approx(low.max()), pytest.approx(high.min()))
    assert (first.verdict, first.state) == (Verdict.BETTER, State.DECIDED)
    assert found["answered, 4 operations"].verdict is Verdict.OPEN
    assert found["right, 3 operations"].low == -np.inf
    records = as_records(bundle)
    assert [one["outcome"] for one in records[:2]] == ["better by at least 2 points", "undecided"]
    assert records[2]["low"] is None
    assert accuracies(bundle, "kv-shift", "answered, 4 operations").tolist() == [0.5, 0.5, 0.5, 0]


def test_seeds_that_one_model_alone_has_say_nothing_yet():
    few = bundle_of(tiny(), made_up(tiny(), COUNTS | {"vanilla": [(0, 1)] * 3}), Place())
    assert {(line.seeds, line.state) for line in lines(few)} == {(3, State.FEW)}
    assert {one["outcome"] for one in as_records(few)} == {"not enough seeds"}
    assert lines(bundle_of(tiny(), made_up(tiny(), {"vanilla": [(0, 1)]}), Place())) == []


def test_measures_name_each_count_once():
    assert measures(TRAINING)["right, 4 operations"] == ("right", 1)
    assert len(measures(TRAINING)) == 4
    assert results("no such folder", tiny()) == {}
