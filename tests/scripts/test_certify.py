"""`certify` stores what the core accepts, keeps what still holds, and tries the rest again."""

from dataclasses import replace

import pytest

from proofs_check.ledger import registry, store
from proofs_check.ledger.verdicts import counted
from scripts.commands import certify

NAME = "waiver.sec3.3.1.copies"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    for name, paper in registry.installed().items():
        monkeypatch.setitem(registry.installed(), name, replace(paper, certificates=tmp_path / f"{name}.json"))
    return tmp_path


def test_a_run_has_a_row_for_each_mutant_and_keeps_what_still_holds(folder, capsys):
    claim = registry.load(("waiver",), (NAME,))[NAME]
    assert certify.main(["--id", NAME, "--jobs", "1"]) == 0
    assert "1 statements" in capsys.readouterr().out
    (entry,) = store.entries(folder / "waiver.json").values()
    assert store.judge(claim.formal.to_json(), entry)["outcome"] == "proved"
    found = counted(claim.formal, entry["certificate"], entry["mutants"])
    assert found["made"] == len(entry["mutants"]) and found["open"] == 0
    digest, kept = store.to_try(claim.formal, entry)[0]
    assert store.proof(claim.formal, entry) is entry and store.tried(claim.formal, digest, kept) == entry["mutants"][0]
    fewer = store.with_mutant(claim.formal, entry, digest, None)
    assert counted(claim.formal, fewer["certificate"], fewer["mutants"])["open"] == 1
    assert store.to_try(claim.formal, fewer)[0] == (digest, None)
    assert store.with_mutant(claim.formal, fewer, digest, entry["mutants"][0]) == entry
    damaged = {**entry, "certificate": {**entry["certificate"], "proofs": {}}}
    assert store.to_try(claim.formal, damaged) == []


def test_an_unknown_name_is_refused_before_anything_is_written(folder):
    with pytest.raises(ValueError, match="no claim"):
        certify.main(["--id", "kv.nothing"])
    assert list(folder.iterdir()) == []
