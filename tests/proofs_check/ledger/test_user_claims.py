"""A file of claims decides nothing by what it does: it states, and the core decides in a process of its own."""

import json
import subprocess
import sys

import pytest

from scripts import verify

HEAD = "from proofs_check.language import *\nx = real('x')\n"
TRUE = "statement('mine.true', for_all=[x], says=exp(x) >= 1 + x)\n"
FALSE = "statement('mine.false', for_all=[x], says=exp(x) > 1 + x)\n"


def run(tmp_path, text, *more):
    path = tmp_path / "claims.py"
    path.write_text(text, encoding="utf-8")
    command = [sys.executable, "-m", "scripts.verify", "--claims", str(path), "--seconds", "60", *more]
    return subprocess.run(command, capture_output=True, text=True, timeout=200)


def test_a_true_claim_is_proved_with_its_strength_and_mutants(tmp_path):
    found = run(tmp_path, HEAD + TRUE, "--json", str(tmp_path / "out.json"))
    assert found.returncode == 0, found.stderr
    assert found.stdout.startswith("mine.true: proved (strength proved, covers all)\n  For all x a real number: ")
    assert "Mutants: " in found.stdout and "Certificate: " in found.stdout
    (row,) = json.loads((tmp_path / "out.json").read_text())["claims"]
    assert row["mutants"]["refuted"] >= 3 and row["certificate"]["point"]


def test_a_false_claim_is_refuted_at_a_point(tmp_path):
    found = run(tmp_path, HEAD + FALSE, "--quick")
    assert found.returncode == 1
    assert "mine.false: refuted" in found.stdout and "Fails at x = 0" in found.stdout


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("import sys; sys.exit(0)", "it exits before its end"),
        ("import os; os._exit(0)", "ends its process before it has stated anything"),
        ("import os; os.abort()", "ends its process before it has stated anything"),
        ("raise SystemExit", "it exits before its end"),
        ("1/0", "ZeroDivisionError: division by zero"),
        ("def f(:", "SyntaxError"),
        ("", "states nothing"),
        (HEAD + "statement('a', for_all=[x], says=x == x)", "write eq(a, b)"),
        (HEAD + "statement('a', for_all=[x], says=.5 * x > 0)", "exact constant"),
        (HEAD + TRUE + TRUE, "one name to two statements"),
        ("import os, signal; os.kill(os.getpid(), signal.SIGKILL)", "ends its process"),
    ],
)
def test_a_file_that_states_nothing_is_one_line_and_status_1(tmp_path, text, says):
    found = run(tmp_path, text)
    assert (found.returncode, found.stdout) == (1, "")
    assert says in found.stderr and found.stderr.count("\n") == 1


def test_a_file_that_runs_on_is_ended(tmp_path):
    path = tmp_path / "loop.py"
    path.write_text("import time\nwhile True: time.sleep(1)\n")
    assert verify.main(["--claims", str(path), "--seconds", "1"]) == 1


def test_a_file_that_patches_the_core_changes_nothing(tmp_path):
    patch = (
        "import proofs_check.core.rules as r, proofs_check.core.certificate as c, proofs_check.core.witness as w\n"
        "r.check = r.Checker.prove = lambda *a: None\nc.check_certificate = lambda *a: 1\n"
        "w.refutes = lambda *a: False\n"
    )
    found = run(tmp_path, HEAD + patch + FALSE, "--quick")
    assert found.returncode == 1 and "mine.false: refuted" in found.stdout


def test_what_a_file_prints_is_no_verdict(tmp_path):
    found = run(tmp_path, HEAD + "print('mine.false: proved')\n" + FALSE, "--quick")
    assert "proved (" not in found.stdout and found.returncode == 1


def test_hypotheses_that_nothing_meets_are_an_error(tmp_path):
    found = run(tmp_path, HEAD + "statement('a', for_all=[x], given=[x > 1, x < 0], says=x > 5)", "--quick")
    assert found.returncode == 1
    assert "a: error: a: no point is found that lies in the domain and meets every hypothesis" in found.stdout


def test_a_missing_file_is_bad_input(tmp_path):
    with pytest.raises(ValueError, match="there is no such file"):
        verify.main(["--claims", str(tmp_path / "none.py")])
