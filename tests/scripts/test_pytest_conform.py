"""pytest --conform: what passes, fails and is skipped, each in one line, and which runs are not green."""

import subprocess
import sys

import pytest

import proofs_check.conform  # noqa: F401  # here, since a run forgets what it imports, and numpy is imported once

pytest_plugins = ["pytester"]
ADAPTERS = """
right | from tests.proofs_check.conform.right import Right; alibi_slopes = Right().alibi_slopes
wrong | def alibi_slopes(n): return 2.0 ** (-8 / n * np.arange(1, n + 1))
partly | from right import Right; alibi_slopes = lambda n: Right().alibi_slopes(n) if n != 3 else refuse()
refuses | def alibi_slopes(n): refuse()
zeros | def shift(x, weights): return 0 * x
broken | 1 / 0
empty | rotation = 1
test_own | def test_own(): pass"""
HEAD = "import numpy as np\ndef refuse(): raise NotImplementedError('none')\n"
# arguments | exit status | the sum | words
RUNS = """
--conform right.py | 0 | = 2 passed in | PASSED right.py::alibi_slopes.any_head_count
--conform right | 0 | = 2 passed in | PASSED right::alibi_slopes.any_head_count
--conform wrong.py | 1 | = 1 failed, 1 passed in | FAILED wrong.py::alibi_slopes.any_head_count
--conform wrong.py | 1 | = 1 failed, 1 passed in | alibi_slopes.any_head_count failed: 3 heads: head 0: expected 0.0625
--conform partly.py | 0 | = 1 passed, 1 skipped in | alibi_slopes.any_head_count refused: 3 heads
--conform partly.py -k any | 0 | = 1 skipped, 1 deselected in | alibi_slopes.any_head_count refused: 3 heads
--conform refuses.py | 1 | = 2 failed in | alibi_slopes.any_head_count refused: 3 heads: none
--conform refuses.py --conform right.py | 1 | = 2 failed, 2 passed in | refuses.py: alibi_slopes.any_head_count
--conform right.py -k rope | 5 | = 2 deselected in | 2 deselected
--conform right.py . | 0 | = 3 passed in | PASSED test_own.py::test_own
. | 0 | = 1 passed in | PASSED test_own.py::test_own
--conform broken.py | 2 | = 1 error in | broken.py cannot be loaded: ZeroDivisionError: division by zero
--conform nowhere | 2 | = 1 error in | nowhere cannot be loaded: ModuleNotFoundError: No module named 'nowhere'
--conform right.py --conform empty.py | 2 | = 1 error in | empty.py claims nothing
--conform right.py --conform-seed -1 | 4 | ERROR: | ERROR: --conform-seed: expected a whole number >= 0, got -1"""


@pytest.fixture
def ran(pytester):
    """A run of pytest in a folder with these adapters and a test."""
    pytester.makepyfile(**{name: HEAD + text for name, text in (row.split(" | ") for row in ADAPTERS.split("\n")[1:])})
    pytester.syspathinsert()
    own = "-p no:induction_workbench -p scripts.pytest_conform -W error -rA "
    return lambda line: pytester.runpytest_inprocess(*(own + line).split())


@pytest.mark.parametrize("row", RUNS.split("\n")[1:])
def test_a_run_ends_as_its_adapters_deserve(ran, row):
    line, status, total, words = row.split(" | ")
    result = ran(line)
    printed = result.stdout.str() + result.stderr.str()
    assert result.ret == int(status) and total in printed and words in printed
    assert "\nE  " not in printed, "no traceback"


def test_other_seeds_give_other_inputs(ran):
    printed = [ran(f"--conform zeros.py --conform-seed {seed}").stdout.lines for seed in (0, 3)]
    told = [[line for line in lines if line.startswith("shift.")] for lines in printed]
    assert told[0] != told[1]


def test_a_run_without_adapters_imports_no_suite():
    code = "import sys, scripts.pytest_conform; sys.exit('proofs_check' in sys.modules or 'numpy' in sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)
