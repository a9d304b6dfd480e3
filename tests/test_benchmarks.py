"""The benchmarks run small with every guard passed; their judgement, table and command line, without any timing."""

import json
import time

import numpy as np
import pytest

from benchmarks import __main__ as command
from benchmarks import generator
from benchmarks.row import Comparison, Guard, Limit, Row, failures, table
from benchmarks.timing import Times, interleave, peak_in_fresh_process
from scripts.commands.cli import run

GOOD = Row(
    "good", [Comparison("slow", 4.0, 2.0, 2.0, 1.5, 3.0)], [Limit("limit", 2.0, 3.0)], [Guard("error", 0.0, 0.0)]
)


@pytest.fixture(autouse=True)
def no_pinning(monkeypatch):
    monkeypatch.setattr(command, "_one_pinned_thread", lambda: None)


LONG = ("figure", "razor", "start_up")


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.deep] if name in LONG else []) for name in command.ROWS]
)
def test_row_runs_small_and_passes_its_guards(name, tmp_path, capsys):
    out = tmp_path / "rows.json"
    assert run(command.main, ["--row", name, "--quick", "--json", str(out)]) == 0
    written = json.loads(out.read_text())
    (row,) = written["rows"]
    assert written["failures"] == []
    assert row["name"] == name
    assert row["guards"] and row["limits"]
    assert any(part["floor"] for part in row["comparisons"])
    assert all(part["ratio"] > 0 for part in row["comparisons"])
    assert name in capsys.readouterr().out


@pytest.mark.parametrize(
    ("changed", "judged", "number"),
    [
        (GOOD, True, 0),
        (GOOD._replace(guards=[Guard("error", 1e-9, 0.0)]), False, 1),
        (GOOD._replace(guards=[Guard("error", np.nan, 1.0)]), False, 1),
        (GOOD._replace(comparisons=[Comparison("slow", 4.0, 2.0, 1.4, 1.5)]), True, 1),
        (GOOD._replace(comparisons=[Comparison("slow", 4.0, 2.0, 1.4, 1.5)]), False, 0),
        (GOOD._replace(comparisons=[Comparison("slow", 4.0, 2.0, 0.1)]), True, 0),
        (GOOD._replace(limits=[Limit("limit", 3.1, 3.0)]), True, 1),
        (GOOD._replace(limits=[Limit("limit", np.nan, 3.0)]), True, 1),
    ],
)
def test_failures_are_guards_always_and_floors_when_judged(changed, judged, number):
    assert len(failures(changed, floors=judged)) == number


def test_generator_is_judged_by_work_that_it_cannot_spare():
    counts = np.array([3, 1, 5])
    tokens = generator.needed(np.random.default_rng(0), counts)
    assert tokens.shape == (3, 6)
    assert ((tokens > 0).sum(1) == counts).all()


def test_table_has_a_line_for_each_part_and_names_what_failed():
    bad = GOOD._replace(name="bad", guards=[Guard("first", 0.0, 1.0), Guard("second", 2.0, 1.0)])
    lines = table([GOOD, bad]).splitlines()
    assert len(lines) == 4
    assert [line.split()[-1] for line in lines] == ["passed", "yes", "yes", "NO"]


def test_a_failed_row_exits_one_and_a_bad_row_two_with_one_line(monkeypatch, capsys):
    bad = GOOD._replace(comparisons=[Comparison("slow", 4.0, 2.0, 1.4, 1.5)])
    monkeypatch.setattr("benchmarks.landscape.measure", lambda quick: bad)
    assert command.main(["--row", "landscape"]) == 1
    assert "failed: good: 1.4x slow, less than 1.5x" in capsys.readouterr().out
    with pytest.raises(SystemExit) as ended:
        command.main(["--row", "nonsense"])
    assert ended.value.code == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_json_in_a_folder_that_cannot_be_written_exits_two(tmp_path):
    (tmp_path / "file").touch()
    assert run(command.main, ["--row", "landscape", "--quick", "--json", str(tmp_path / "file" / "x.json")]) == 2


def test_variants_are_interleaved_with_one_round_to_warm_up():
    order = []
    times = interleave({name: lambda name=name: order.append(name) for name in "ab"}, rounds=3, calls={"b": 2})
    assert "".join(order) == "abb" * 4
    assert all(len(values) == 3 for values in times.rounds.values())


def test_times_do_not_count_sleep_and_compare_within_a_round():
    assert interleave({"sleep": lambda: time.sleep(0.05)}, rounds=1).seconds("sleep") < 0.04
    assert Times({"slow": [2.0, 20.0, 6.0], "fast": [1.0, 10.0, 2.0]}).ratio("slow", "fast") == 2.0


def test_peak_memory_of_a_fresh_process_counts_what_a_function_touches():
    sizes = [peak_in_fresh_process("tests.test_benchmarks", "filled", str(mb)) / 2**20 for mb in (20, 60)]
    assert all(least < size < least + 8 for size, least in zip(sizes, (19, 59), strict=True))


def filled(megabytes: str):
    """What the test above measures."""
    return lambda: np.ones(int(megabytes) * 2**17)
