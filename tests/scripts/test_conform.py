"""The command conform: what it prints and writes, and its exit status."""

from importlib.metadata import version

import pytest

from proofs_check.conform import CHECKS, SUBJECTS
from scripts.pages import conform_page
from tests.proofs_check.conform.planted import MISTAKES
from tests.scripts.commands import read, text_of

EXAMPLES = conform_page.RESULTS.parent
MINE = """
import time
import numpy as np

def alibi_slopes(n):
    return 2.0 ** (-8 / n * np.arange(1, n + 1))

def alibi_bias(n_heads, n_queries, n_keys):
    if n_keys > 4:
        raise NotImplementedError("4 keys at most")
    return alibi_slopes(n_heads)[:, None, None] * (np.arange(n_keys) - np.arange(n_keys - n_queries, n_keys)[:, None])

def shift(x, weights):
    undefined

def value_residual(values, own, first):
    time.sleep(0.1)
    return [values[0], *(own * v + first * values[0] for v in values[1:])]
"""


@pytest.fixture
def mine(tmp_path):
    path = tmp_path / "mine.py"
    path.write_text(MINE)
    return path


@pytest.mark.parametrize(
    ("only", "status", "words"),
    [
        ("alibi_slopes.powers_of_two", 0, "passed alibi_slopes.powers_of_two n heads, n = 1, 2, 4"),
        ("alibi_slopes", 1, "FAILED alibi_slopes.any_head_count 3 heads: head 0: expected 0.0625, got 0.15749"),
        ("alibi_slopes", 1, "alibi_slopes: passed up to 128 heads, not all at once; nothing larger 1 passed, 1 failed"),
        ("alibi_bias.whole", 1, "2 heads, 5 queries at the end of 5 keys: 4 keys at most; cases as expected: 8"),
        ("alibi_bias.whole alibi_slopes.powers_of_two", 0, "1 passed, 0 failed, 0 raised, 0 convention, 1 refused"),
        ("shift.whole alibi_slopes.powers_of_two", 1, "1 passed, 0 failed, 1 raised, 0 convention, 0 refused"),
        ("rope alibi_slopes.powers_of_two", 0, "checks not claimed: 8 rope 1 passed"),
        ("rope", 1, "0 passed, 0 failed, 0 raised, 0 convention, 0 refused, 0 cut short, 8 not"),
    ],
)
def test_a_line_tells_each_check_and_what_deviates_or_never_passes_exits_with_1(command, mine, only, status, words):
    found, printed, errors = command("conform", mine, *(f"--only={name}" for name in only.split()))
    assert (found, errors) == (status, "") and words in " ".join(printed.split())


def test_a_check_that_the_time_cuts_short_is_no_pass(command, mine):
    code, printed, _ = command("conform", mine, "--only=value_residual.factors", "--only=alibi_slopes.powers_of_two",
                               "--seconds=1")  # fmt: skip
    assert code == 1 and "1 passed, 0 failed, 0 raised, 0 convention, 0 refused, 1 cut short" in printed


def test_json_is_of_what_is_claimed_and_the_same_for_the_same_seed_and_a_drawn_seed_is_told(command, mine, tmp_path):
    target, runs = tmp_path / "out/results.json", []
    mpt = EXAMPLES / "transformers_mpt.py"
    asked = ("conform", mine, mpt, "--json", target, "--only=alibi_slopes", "--only=shift.wider")
    for seed in ((), (), ("--seed", 3), ("--seed", 3)):
        code, printed, _ = command(*asked, *seed)
        told, right = read(target)["adapters"]
        assert code == 1 and printed.count(f", seed {told['seed']}\n") == 2 and printed.endswith(f"wrote {target}\n")
        # the third tells the weights that were drawn
        runs.append((target.read_bytes(), told["results"][2]["told"]))
    assert runs[2] == runs[3] and [len(set(of)) for of in zip(*runs, strict=True)] == [3, 3]
    assert (told["backend"], told["dtype"], told["seed"], told["package"]) == ("numpy", "float32", 3, "")
    assert right["package"] == f"transformers {version('transformers')}"
    assert [row["outcome"] for row in told["results"]] == ["passed", "failed", "raised"]
    assert [row["outcome"] for row in right["results"]] == ["passed", "passed"]
    assert told["results"][0]["check"] == "alibi_slopes.powers_of_two"


def test_a_package_that_is_not_there_is_refused(refused, mine):
    mine.write_text(MINE + "PACKAGE = 'absent'")
    refused(f"conform {mine}", "mine.py: PACKAGE must name what is installed, got 'absent'")


def test_list_names_every_subject_and_check(done):
    words = {line.split("(")[0].split()[0] for line in done("conform", "--list").splitlines()}
    assert {check.name for check in CHECKS} | set(SUBJECTS) <= words


def test_the_pages_list_every_subject_every_planted_mistake_and_every_adapter():
    page = text_of("docs/conform.md") + text_of("docs/conform-board.md")
    listed = [f"`{name}" for name in SUBJECTS] + [f"`{path.name}`" for path in EXAMPLES.glob("*.py")]
    listed += [f"| {mistake} | `{check}` |" for mistake, check in MISTAKES.values()]
    assert [words for words in listed if words not in page] == []


def test_the_board_tells_deviations_refusals_and_other_outcomes_apart_of_checks_that_there_are():
    outcomes = ("passed", "failed", "refused", "convention")
    cell = conform_page._cell([{"check": f"rope.{outcome}", "outcome": outcome} for outcome in outcomes])
    assert cell == "1/4 **failed** refused *convention*"
    assert max(map(len, conform_page.page().splitlines())) <= 120
    ran = {row["check"] for one in conform_page.adapters() for row in one["results"]}
    assert ran <= {check.name for check in CHECKS}
