"""The figure of the comparison: its data are the shipped table's, its files are the same twice, and refusals."""

import numpy as np
import pytest

from dynamics import comparison_plan as plan
from dynamics.comparison_record import read_comparison
from dynamics.comparison_statistics import line_of
from scripts import fig_compare
from scripts.cli import run


@pytest.fixture(scope="module")
def data():
    return fig_compare.compute()


def test_data_are_the_lines_of_the_table(data):
    comparison = read_comparison()
    budgets = comparison.settings.budgets
    assert sorted(data.names) == sorted(policy for policy in plan.POLICIES if policy != plan.FULL)
    for index, name in enumerate(data.names):
        for column, budget in enumerate(budgets):
            line = line_of(comparison, str(name), budget)
            assert tuple(data.extra[index, column]) == (line.extra.low, line.extra.value, line.extra.high)
            assert tuple(data.accuracy[index, column]) == (line.accuracy.low, line.accuracy.value, line.accuracy.high)
            assert data.memory[index, column] == line.share


def test_data_memory_is_equal_at_each_budget(data):
    spread = data.memory.max(axis=0) - data.memory.min(axis=0)
    assert (np.diff(data.memory.max(axis=0)) < 0).all() and (spread < 0.01).all()


def test_main_writes_the_same_bytes_twice(tmp_path):
    for name in ("one", "two"):
        assert run(fig_compare.main, ["--quick", "--out", str(tmp_path / name)]) == 0
    for kind in ("pdf", "png", "npz"):
        first, second = ((tmp_path / f"{name}.{kind}").read_bytes() for name in ("one", "two"))
        assert first == second and len(first) > 1000


@pytest.mark.parametrize("bad", [["--format", "svg"], ["--quick", "--full"], ["--unknown"]])
def test_main_refuses_bad_input_with_one_line_and_writes_nothing(bad, tmp_path, capsys):
    with pytest.raises(SystemExit) as stop:
        run(fig_compare.main, [*bad, "--out", str(tmp_path / "figure")])
    assert stop.value.code == 2
    message = capsys.readouterr().err
    assert message.startswith("error: ") and message.count("\n") == 1
    assert not list(tmp_path.iterdir())
