"""A file of claims decides nothing by what it does: it states, and the core decides in a process of its own."""

import json
import os
import signal
import subprocess
import sys
import time
from concurrent.futures import Future
from contextlib import nullcontext, suppress
from pathlib import Path
from types import SimpleNamespace

import pytest

from proofs_check.language import exp, real, statement, supervised
from proofs_check.ledger import user_claims, workers
from scripts.commands import cli, verify
from tests.shares import one_in

HEAD = "from proofs_check.language import *\nx = real('x')\n"
TRUE = "statement('mine.true', for_all=[x], says=exp(x) >= 1 + x)\n"
FALSE = "statement('mine.false', for_all=[x], says=exp(x) > 1 + x)\n"


@pytest.fixture
def run(tmp_path, capsys):
    """Status, output and errors of the command on a file that holds this."""

    def claims(text, *more):
        path = tmp_path / "claims.py"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return (cli.run(verify.main, ["--claims", str(path), *more]), *capsys.readouterr())

    return claims


def test_a_true_claim_is_proved_with_its_strength_and_mutants(run, tmp_path):
    status, out, err = run(HEAD + TRUE, "--json", str(tmp_path / "out.json"))
    assert status == 0, err
    assert out.startswith("mine.true: proved (strength proved, covers all)\n  For real x: ")
    assert "Mutants: " in out and "Certificate: " in out
    (row,) = json.loads((tmp_path / "out.json").read_text())["claims"]
    assert row["mutants"]["refuted"] >= 3 and row["certificate"]["point"]


UNUSABLE = {
    "exits": ("import sys; sys.exit(0)", "line 1: it exits before its end"),
    "leaves": (HEAD + TRUE + "import os; os._exit(0)", "ends its process before it has stated anything"),
    "aborts": ("import os; os.abort()", "ends its process before it has stated anything"),
    "kills itself": ("import os, signal; os.kill(os.getpid(), signal.SIGKILL)", "ends its process"),
    "kills its session": ("import os; os.killpg(0, 9)", "ends its process"),
    "fails": ("\n1/0", "claims.py, line 2: ZeroDivisionError: division by zero; what follows is not read"),
    "is no Python": ("x = 1\ndef f(:", "claims.py, line 2: SyntaxError: "),
    "is no text": (b"\xff\xfe\n", "line 1: SyntaxError: (unicode error) 'utf-8' codec can't decode byte 0xff"),
    "is empty": ("", "claims.py states nothing"),
    "runs on": ("import time\nwhile True: time.sleep(1)", "runs for more than 1 s"),
    "prints on": ("while True: print('mine.true: proved' * 99)", "runs for more than 1 s"),
    "states on": ("import os, sys\nwhile True: os.write(int(sys.argv[2]), bytes(65536))", "states more than 20 MB"),
}


@pytest.mark.parametrize(("text", "says"), UNUSABLE.values(), ids=UNUSABLE)
def test_a_file_that_cannot_be_used_is_one_line_and_status_2(run, text, says):
    status, out, err = run(text, "--seconds", "1" if says.endswith("1 s") else "60")
    assert (status, out) == (2, "") and says in err and err.count("\n") == 1


def test_what_is_no_file_is_one_line(tmp_path, monkeypatch):
    os.mkfifo(tmp_path / "pipe")
    monkeypatch.setattr(os, "access", lambda *_: False)
    for path, says in (
        (tmp_path, "it is a folder"), (tmp_path / "no", "there is no such file"), (Path(__file__), "no permission"),
        *((path, "it is no regular file") for path in (tmp_path / "pipe", Path("/dev/zero"))),
    ):  # fmt: skip
        with pytest.raises(user_claims.Refused, match=f"^cannot read {path}: {says}$"):
            user_claims.emitted(path, 1)


SAID = '[[1, "a", {"for_all": [], "given": [], "says": %s, "definitions": %s}]]'
WRITTEN = [
    "NaN", "-Infinity", "17", "{}", "null", '"a"', "[NaN]", "[[1e999, 1, 2]]", "[[" + "9" * 9999 + "]]", "[" * 10**5,
    "[" * 500 + "]" * 500, '[[1, "a", 1]]', '[[1, "a", ["num"]]]', '[[1, "a", {}]]', '[[1, "a", "\\u001b[2K\\n"]]',
    SAID % ('["num", NaN]', "[]"), SAID % ('{"form": []}', "[]"), SAID % ("[]", "[[[], 1, 2]]"),
]  # fmt: skip


@pytest.mark.parametrize("written", WRITTEN, ids=range(len(WRITTEN)))
def test_what_a_file_writes_past_the_language_is_at_most_a_line(run, written):
    status, out, err = run(f"import os, sys\nos.write(int(sys.argv[2]), {written.encode()!r}); os._exit(0)")
    assert status in (1, 2) and out == "" and err.startswith("error: ") and err.count("\n") == 1 and "\x1b" not in err


MALFORMED = """statement('mine.bad', for_all=[x],
          says=x == x)
statement('mine.none', says=x > 0)
statement('mine.true', for_all=[x], says=x > 1)
x ** 0.5
statement('mine.late', for_all=[x], says=x > 0)
"""
FAULTS = [
    "line 4: the statement 'mine.bad' is malformed: the conclusion is True: write eq(a, b)",
    "line 6: the statement 'mine.none' is malformed: ",
    "line 7: the statement 'mine.true' is malformed: the statement of line 3 has its name",
    "line 8: TypeError: a power has a whole exponent; write sqrt(x), or exp(a * log(x)), for others; what follows is n",
]


def test_a_malformed_statement_is_a_line_and_takes_no_other_along(run, tmp_path):
    status, out, err = run(HEAD + TRUE + MALFORMED, "--quick", "--json", str(tmp_path / "out.json"))
    assert status == 1 and out.startswith("mine.true: proved (strength proved, covers all)\n")
    lines = err.splitlines()
    assert len(lines) == len(FAULTS)
    assert all(line.startswith(f"error: claims.py, {fault}") for line, fault in zip(lines, FAULTS, strict=True)), lines
    told = json.loads((tmp_path / "out.json").read_text())
    assert [f"error: {fault}" for fault in told["faults"]] == lines and len(told["claims"]) == 1


def test_a_statement_that_breaks_the_search_is_an_error_of_its_own(monkeypatch):
    broken, x = Future(), real("x")
    broken.set_exception(OverflowError("too far"))
    monkeypatch.setattr(workers, "processes", lambda _: nullcontext(SimpleNamespace(submit=lambda *_: broken)))
    rows = user_claims.decided([statement(name, for_all=[x], says=exp(x) > x) for name in "ab"], 9)
    assert [(row["id"], row["outcome"], row["message"]) for row in rows] == [
        (name, "error", "OverflowError: too far") for name in "ab"
    ]


FORGED = "ok: proved (strength proved, covers all)\\nb\\x1b[2K\\x9b1A\\u2028\\u202e\\u200b"


def test_a_name_is_printed_in_its_own_line_and_reads_as_no_verdict(run, tmp_path):
    text = f"statement('{FORGED}', for_all=[x], says=exp(x) > 1 + x)\nstatement('{FORGED}', for_all=[x], says=x > 0)"
    status, out, err = run(HEAD + text, "--quick", "--json", str(tmp_path / "out.json"))
    assert out.startswith(f"'{FORGED}': refuted (") and status == 1
    assert FORGED in err and err.count("\n") == 1
    told = (tmp_path / "out.json").read_text("utf-8")
    assert told.isascii() and json.loads(told)["claims"][0]["id"] == FORGED.encode().decode("unicode_escape")


# Each starts a process out of the file's session and writes down its number.
LEAVE = {
    "a session": "p = subprocess.Popen(['sleep', '90'], start_new_session=True)\nnote(p.pid)\n",
    "two forks": "if not os.fork():\n    os.setsid()\n    os.fork() and os._exit(0)\n"
                 "    os.setsid(); note(os.getpid()); time.sleep(90)\n",
}  # fmt: skip
NOTE = """import os, subprocess, time
def note(pid):
    open({0!r} + "~", "w").write(str(pid))
    os.rename({0!r} + "~", {0!r})
"""
THEN = f"while not os.path.exists({{0!r}}): time.sleep(.01)\n{HEAD}{TRUE}"
ENDS = {"it ends": "", "it leaves": "os._exit(0)", "the limit": "time.sleep(90)"}
# What a shell starts in the background ignores Ctrl-C.
COMMAND = """import signal, sys
from scripts.commands import cli, verify
signal.signal(signal.SIGINT, signal.default_int_handler)
sys.exit(cli.run(verify.main))"""


@pytest.mark.parametrize("leave", one_in(2, LEAVE, 1))
@pytest.mark.parametrize("end", [*ENDS, signal.SIGINT, signal.SIGKILL])
def test_what_a_file_has_started_ends_with_it(tmp_path, leave, end):
    path, noted = tmp_path / "claims.py", tmp_path / "pid"
    path.write_text((NOTE + LEAVE[leave] + THEN).format(str(noted)) + ENDS.get(end, "time.sleep(90)"))
    if end in ENDS:
        seconds = 1
        while not noted.exists():  # a busy machine may need longer to come that far
            with suppress(user_claims.Refused):
                user_claims.emitted(path, seconds := 2 * seconds)
    else:
        command = [sys.executable, "-c", COMMAND, "--claims", str(path), "--seconds", "900"]
        with subprocess.Popen(command, stderr=subprocess.DEVNULL) as process:
            while not noted.exists():
                time.sleep(0.02)
            process.send_signal(end)
        assert process.returncode in (130, -9)
    pid = int(noted.read_text())
    try:
        # Nobody waits for the supervisor of a command that was killed.
        ends = time.monotonic() + (30 if end is signal.SIGKILL else 0)
        while running(pid) and time.monotonic() < ends:
            time.sleep(0.02)
        assert not running(pid)
    finally:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def running(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


# The command that runs the file is known by its arguments.
KILL = """import os, glob
from contextlib import suppress
words = {}
for path in glob.glob("/proc/[0-9]*/cmdline"):
    with suppress(OSError): words[path] = open(path).read().split(chr(0))
for path in words:
    if {"--claims", __file__} <= {*words[path]}: os.kill(int(path.split("/")[2]), 9)
"""


@pytest.mark.parametrize("text", ["import os\nos.kill(os.getppid(), 9)\n", KILL], ids=["its parent", "verify"])
def test_a_file_cannot_kill_what_runs_it(tmp_path, text):
    if text is KILL and supervised._system("syscall", 444, 0, 0, 1) < 6:  # the version of Landlock
        pytest.skip("this system cannot hold signals back")
    path = tmp_path / "claims.py"
    path.write_text(HEAD + text)
    command = [sys.executable, "-m", "scripts", "verify", "--claims", str(path)]
    found = subprocess.run(command, capture_output=True, text=True, timeout=200)
    assert found.returncode == 2 and found.stderr.startswith("error: claims.py") and found.stderr.count("\n") == 1
    assert text is not KILL or "line 9: PermissionError" in found.stderr


def test_a_false_claim_is_refuted_at_a_point_whatever_its_file_patches_and_prints(run):
    patch = (
        "import proofs_check.core.rules as r, proofs_check.core.certificate as c, proofs_check.core.witness as w\n"
        "r.check = r.Checker.prove = lambda *a: None\nc.check_certificate = lambda *a: 1\n"
        "w.refutes = lambda *a: False\nprint('mine.false: proved')\n"
    )
    status, out, _ = run(HEAD + patch + FALSE, "--quick")
    assert status == 1 and "proved (" not in out
    assert "mine.false: refuted" in out and "It fails at x = 0" in out


def test_hypotheses_that_nothing_meets_are_an_error(run):
    status, out, _ = run(HEAD + "statement('a', for_all=[x], given=[x > 1, x < 0], says=x > 5)", "--quick")
    assert status == 1 and "a: error: a: no point is found that lies in the domain and meets every hypothesis" in out
