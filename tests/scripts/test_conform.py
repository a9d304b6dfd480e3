"""The command conform: what it prints and writes, and its exit status."""

from importlib.metadata import version
from pathlib import Path

import pytest

from proofs_check.conform import CHECKS, SUBJECTS, claimed, load
from scripts.commands import conform
from scripts.pages import conform_page
from tests.scripts.commands import read, text_of

EXAMPLES = Path(conform.__file__).parents[2] / "examples/conform"
WRONG = """
def alibi_slopes(n_heads):
    return {wrong}
"""


@pytest.fixture
def conformed(command):
    """The exit status and the lines of the command."""

    def told(*arguments):
        code, printed, errors = command("conform", *arguments)
        assert errors == ""
        return code, printed.splitlines()

    return told


@pytest.fixture
def mine(tmp_path):
    def write(wrong):
        path = tmp_path / "mine.py"
        path.write_text("import numpy as np\n" + WRONG.format(wrong=wrong))
        return path

    return write


def test_an_adapter_that_passes_what_it_claims_exits_with_0(conformed):
    code, lines = conformed(EXAMPLES / "transformers_mpt.py")
    assert code == 0
    assert "transformers_mpt.py: torch, float32, seed " in lines[0]
    assert sum(line.startswith("  passed") for line in lines) == 6
    assert lines[-1] == f"6 passed, 0 failed, 0 raised, 0 convention, 0 refused, {len(CHECKS) - 6} not claimed"


def test_a_deviation_exits_with_1_and_is_one_line(conformed, mine):
    code, lines = conformed(mine("2.0 ** (-8 / n_heads * np.arange(1, n_heads + 1))"))
    assert code == 1
    failed = [line for line in lines if line.startswith("  FAILED")]
    assert len(failed) == 1 and "alibi_slopes.any_head_count" in failed[0] and "3 heads: head 0: expected" in failed[0]


def test_a_crash_exits_with_1_and_a_refusal_alone_too(conformed, mine):
    assert conformed(mine("undefined"))[0] == 1
    code, lines = conformed(mine("(_ for _ in ()).throw(NotImplementedError('not here'))"))
    assert code == 1 and lines[-1].startswith("0 passed, 0 failed, 0 raised, 0 convention, 2 refused")


def test_only_some_checks_are_run(conformed):
    code, lines = conformed(EXAMPLES / "transformers_bloom.py", "--only", "alibi_bias.decode", "--only", "rope")
    assert code == 0 and lines[-1].startswith("1 passed, 0 failed, 0 raised, 0 convention, 0 refused, 8 not claimed")


def test_json_holds_what_every_adapter_claims_and_one_that_deviates_exits_with_1(conformed, mine, tmp_path):
    target = tmp_path / "out/results.json"
    wrong = mine("np.full(n_heads, np.nan)")
    code, lines = conformed(wrong, EXAMPLES / "transformers_mpt.py", "--json", target, "--seed", 3)
    assert code == 1 and lines[-1] == f"wrote {target}"
    told, right = read(target)["adapters"]
    assert (told["backend"], told["dtype"], told["seed"], told["package"]) == ("numpy", "float32", 3, "")
    outcomes = {row["check"]: row["outcome"] for row in told["results"]}
    assert outcomes == {f"alibi_slopes.{name}": "failed" for name in ("powers_of_two", "any_head_count")}
    assert len(right["results"]) == 6 and right["package"] == f"transformers {version('transformers')}"


def test_a_package_that_is_not_there_is_refused(refused, mine):
    path = mine("0\nPACKAGE = 'absent'")
    refused(f"conform {path}", "mine.py: PACKAGE must name what is installed, got 'absent'")


def test_list_names_every_subject_and_check(conformed):
    code, lines = conformed("--list")
    assert code == 0
    words = {line.split("(")[0].split()[0] for line in lines}
    assert {check.name for check in CHECKS} | set(SUBJECTS) <= words


def test_the_pages_list_every_subject_every_planted_mistake_and_every_adapter():
    from tests.proofs_check.conform.planted import MISTAKES

    page = text_of("docs/conform.md") + text_of("docs/conform-board.md")
    for name in SUBJECTS:
        assert f"`{name}" in page, name
    for mistake, check in MISTAKES.values():
        assert f"| {mistake} | `{check}` |" in page, mistake
    for path in EXAMPLES.glob("*.py"):
        assert f"`{path.name}`" in page, path


def test_the_board_tells_deviations_refusals_and_other_outcomes_apart():
    outcomes = ("passed", "failed", "refused", "convention")
    cell = conform_page._cell([{"check": f"rope.{outcome}", "outcome": outcome} for outcome in outcomes])
    assert cell == "1/4 **failed**, refused, *convention*"
    assert max(map(len, conform_page.page().splitlines())) <= 120


def test_the_board_has_results_of_checks_that_there_are_and_of_all_that_an_adapter_claims_which_runs_here():
    for one in conform_page.adapters():
        ran = {row["check"] for row in one["results"]}
        assert ran <= {check.name for check in CHECKS}, one["adapter"]
        if one["package"].startswith(("induction-workbench", "transformers")):
            assert ran == {check.name for check in claimed(load(str(EXAMPLES.parents[1] / one["adapter"])))}
