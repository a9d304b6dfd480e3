"""The study of theory against training: what its command leaves, and the text that is rendered from what ships."""

from dynamics.comparison import theorem
from scripts.commands.studies.theory import ROWS, section
from tests.scripts.commands import text_of


def test_the_docs_say_what_the_record_says():
    found = theorem.read_theorem()
    assert section(found) in text_of("docs/experiments.md")
    lines = theorem.lines(found)
    fails = [lines[key].fails for key in ROWS]
    assert fails == ["nothing"] * 4 + ["rank, slope, time", "nothing", "slope, time"]
    assert [len(runs) for runs in found.runs.values()] == [8] * 6 and found.setups == theorem.plan()


def test_the_command_leaves_a_record_and_prints_a_row_a_setting(tmp_path, monkeypatch, done):
    short = theorem.SCALAR.model_copy(update={"steps": 50})
    monkeypatch.setattr(theorem, "plan", lambda quick: {"scalar": short})
    path = tmp_path / "theorem.json"
    printed = done("theory", "--quiet", "--seeds", 2, "--out", path).splitlines()
    assert printed[2].startswith("| four scalars, T = 12, width 4096 | time | 1.00") and printed[3] == str(path)
    assert theorem.read_theorem(path).setups == {"scalar": short}
