"""The mutation score: what counts as a survivor, the interval, and reasons that fit."""

from pathlib import Path

import pytest

import theory
from benchmarks import mutate, mutation_lost, mutation_run
from benchmarks import mutation_page as page

ROOT = Path(__file__).resolve().parents[1]


def record(status, name="a.py::f: x => y", line=1):
    return {"status": status, "path": "a.py", "name": name, "line": line}


def test_a_timeout_is_a_survivor_and_a_mutant_without_a_turn_is_neither():
    score = page.Score.of("part", 0.5, [record("killed"), record("survived"), record("timeout"), None])
    assert (score.killed, score.run, score.waiting) == (1, 3, 1)
    assert score.value == pytest.approx(1 / 3) and not score.reached
    assert "1 survived, 1 timed out" in str(score) and "1 had no turn" in str(score)


def test_nothing_run_reaches_no_goal():
    assert not page.Score.of("part", 0.9, [None]).reached
    assert page.Score.of("part", 0.9, []).interval() == (0.0, 1.0)


def test_the_interval_is_wilsons():
    score = page.Score.of("part", 0.85, [record("killed")] * 85 + [record("survived")] * 15)
    assert score.interval() == pytest.approx((0.7672, 0.9069), abs=1e-4)
    assert score.reached


def test_the_page_lists_each_survivor_under_the_first_reason_that_fits(tmp_path):
    reasons = tmp_path / "reasons.toml"
    reasons.write_text('[[survivor]]\nfile = "a.py"\nchange = "f: x"\nwhy = "equivalent"\n')
    records = [record("survived"), record("timeout", "a.py::g: 1 => 2"), record("killed", "a.py::h: 3 => 4")]
    target = tmp_path / "deep" / "page.md"
    page.write(target, [page.Score.of("part", 0.9, records)], page.reasons(reasons))
    text = target.read_text()
    assert "### equivalent (1)\n\n- `a.py::f: x => y`\n" in text
    assert f"### {page.NO_REASON} (1)\n\n- `a.py::g: 1 => 2` (timeout)\n" in text
    assert "h: 3" not in text
    assert page.reasons(tmp_path / "none.toml") == []


def test_the_parts_are_files_that_exist_and_the_decision_core_is_what_the_checker_imports():
    parts = mutate.files_of(ROOT)
    assert parts.keys() == mutate.GOALS.keys()
    assert all((ROOT / path).is_file() for paths in parts.values() for path in paths)
    core = set(parts["decision-core"])
    assert {"proofs_check/core/rules/sums.py", "proofs_check/core/enclose.py", "theory/lowering/precision.py"} <= core
    assert not core & {"proofs_check/core/printing.py", "proofs_check/rigour/decide.py", *parts["theory"]}


@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")  # fork beside threads: the child only imports
def test_a_child_runs_the_copy_and_not_what_its_parent_has_imported(tmp_path):
    (tmp_path / "theory").mkdir()
    (tmp_path / "theory" / "__init__.py").write_text("WHERE = 'copy'\n")
    assert not hasattr(theory, "WHERE")

    def body(tell):
        import theory

        tell(theory.WHERE)
        return 0

    assert mutation_run.in_child(tmp_path, body)[1].strip() == "copy"


@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
@pytest.mark.parametrize(
    ("path", "where", "status"),
    [
        ("planted_here/part.py", "the original", "survived"),
        ("planted_here/part.py", "a mutant", "killed"),
        ("planted_here/__init__.py", "a mutant", "killed"),
    ],
)
def test_a_mutant_runs_in_place_of_a_module_and_of_a_package(monkeypatch, tmp_path, path, where, status):
    monkeypatch.setenv("PYTEST_ADDOPTS", "--dist worksteal")
    (tmp_path / "planted_here").mkdir()
    for name in ("__init__.py", "part.py"):
        (tmp_path / "planted_here" / name).write_text("WHERE = 'the original'\n")
    test = tmp_path / "test_planted.py"
    test.write_text("from planted_here import WHERE as one\nfrom planted_here.part import WHERE as two\n"
                    "def test_both():\n    assert one == two == 'the original'\n")  # fmt: skip
    found = mutation_run.run_mutant(tmp_path, path, f"WHERE = __file__ and {where!r}\n", [str(test)], {})
    assert found.status == status


def test_kills_can_be_lost_only_on_lines_that_a_gone_test_runs(tmp_path):
    kept = "def test_b():\n    pass\n"
    for root, tests in (("old", f"def test_a():\n    assert f(2) == 3\n\n{kept}"), ("new", kept)):
        (tmp_path / root).mkdir()
        (tmp_path / root / "test_f.py").write_text(tests)
    before = ["test_f.py::test_a[0]", "test_f.py::test_b"]
    gone = mutation_lost.gone_tests(tmp_path / "old", tmp_path / "new", before, before[1:])
    assert gone == {before[0]}
    lines = {"f.py": {"2": before, "6": before[1:]}, "page.j2": {"1": before}}
    assert mutation_lost.places(lines, gone) == [("f.py", 2)]
    changed = mutation_lost.gone_tests(tmp_path / "old", tmp_path / "new", before, before)
    assert changed == gone  # its name is there still, its function is not
