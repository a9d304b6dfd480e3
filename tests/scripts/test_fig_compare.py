"""The figure of the comparison: its data are the shipped table's, and its files."""

import pytest

from dynamics.comparison import plan
from dynamics.comparison.record import read_comparison
from dynamics.comparison.statistics import lines
from scripts.commands.studies.compare_table import markdown_table
from scripts.figures.trained import fig_compare
from scripts.figures.trained.fig_compare import LOOKS
from tests.scripts.commands import text_of


@pytest.fixture(scope="module")
def data():
    return fig_compare.compute()


def test_data_are_the_lines_of_the_table(data):
    comparison = read_comparison()
    budgets, table = comparison.settings.budgets, {line[:2]: line for line in lines(comparison)}
    assert sorted(data.names) == sorted(policy for policy in plan.POLICIES if policy != plan.FULL)
    for index, name in enumerate(data.names):
        for column, budget in enumerate(budgets):
            line = table[str(name), budget]
            assert tuple(data.extra[index, column]) == (line.extra.low, line.extra.value, line.extra.high)
            assert tuple(data.accuracy[index, column]) == (line.accuracy.low, line.accuracy.value, line.accuracy.high)
            assert data.memory[index, column] == line.share


def test_policies_differ_in_marker_and_not_only_between_colours_that_some_see_as_one_grey():
    markers = [marker for _, marker in LOOKS.values()]
    assert len(set(markers)) == len(markers)
    assert "#7f7f7f" not in dict(LOOKS.values())


def test_table_gives_every_mean_its_interval():
    rows = markdown_table(read_comparison())
    assert rows[0] == "| kept entries | 50 % | 32 % | 25 % | 12.5 % |"
    assert "| Razor as printed | 100 % each seed<br>.001 [-.002, .005] |" in rows[6]
    assert rows[6].endswith("| 70 % [0, 100]<br>.075 [.043, .107] |")
    assert "\n".join(rows) in text_of("docs/experiments.md")
