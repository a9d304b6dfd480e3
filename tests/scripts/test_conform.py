"""The command conform: what it prints and writes, and its exit status."""

from pathlib import Path

import pytest

from proofs_check.conform import CHECKS, SUBJECTS
from scripts.commands import conform
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
    assert lines[0].endswith("transformers_mpt.py: torch, float32, seed 0")
    assert sum(line.startswith("  passed") for line in lines) == 7
    assert lines[-1] == f"7 passed, 0 failed, 0 raised, 0 refused, {len(CHECKS) - 7} not claimed"


def test_a_deviation_exits_with_1_and_is_one_line(conformed, mine):
    code, lines = conformed(mine("2.0 ** (-8 / n_heads * np.arange(1, n_heads + 1))"))
    assert code == 1
    failed = [line for line in lines if line.startswith("  FAILED")]
    assert len(failed) == 1 and "alibi_slopes.any_head_count" in failed[0] and "3 heads: head 0: expected" in failed[0]


def test_a_crash_exits_with_1_and_a_refusal_alone_too(conformed, mine):
    assert conformed(mine("undefined"))[0] == 1
    code, lines = conformed(mine("(_ for _ in ()).throw(NotImplementedError('not here'))"))
    assert code == 1 and lines[-1].startswith("0 passed, 0 failed, 0 raised, 2 refused")


def test_only_some_checks_are_run(conformed):
    code, lines = conformed(EXAMPLES / "transformers_bloom.py", "--only", "alibi_bias.decode", "--only", "rope")
    assert code == 0 and lines[-1].startswith("1 passed, 0 failed, 0 raised, 0 refused, 8 not claimed")


def test_json_holds_every_check(conformed, mine, tmp_path):
    target = tmp_path / "out/results.json"
    code, lines = conformed(mine("np.full(n_heads, np.nan)"), "--json", target, "--seed", 3)
    assert code == 1 and lines[-1] == f"wrote {target}"
    told = read(target)
    assert (told["backend"], told["dtype"], told["seed"]) == ("numpy", "float32", 3)
    assert [row["check"] for row in told["results"]] == [check.name for check in CHECKS]
    outcomes = {row["check"]: row["outcome"] for row in told["results"]}
    assert {outcomes.pop(f"alibi_slopes.{name}") for name in ("powers_of_two", "any_head_count")} == {"failed"}
    assert set(outcomes.values()) == {"not claimed"}


def test_list_names_every_subject_and_check(conformed):
    code, lines = conformed("--list")
    assert code == 0
    words = {line.split("(")[0].split()[0] for line in lines}
    assert {check.name for check in CHECKS} | set(SUBJECTS) <= words


def test_the_page_lists_every_subject_and_every_planted_mistake():
    from tests.proofs_check.conform.planted import MISTAKES

    page = text_of("docs/conform.md")
    for name in SUBJECTS:
        assert f"`{name}" in page, name
    for mistake, check in MISTAKES.values():
        assert f"| {mistake} | `{check}` |" in page, mistake
    for path in EXAMPLES.glob("*.py"):
        assert f"`{path.name}`" in page, path
