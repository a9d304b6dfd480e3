"""The list of what ships: it is up to date, and any file that is missing, another or not listed is told by name."""

import shutil
import subprocess

import pytest

from dynamics.files.shipped import FOLDER
from proofs_check.ledger import judged, shipped
from proofs_check.ledger.registry import DROPPED, BrokenLedger, installed
from scripts.commands import docs
from scripts.pages import transcribe

CERTIFICATES = installed()["kv"].certificates.parent

def test_what_ships_is_what_is_listed_and_sha256sum_agrees():
    assert shipped.faults() == []
    assert shipped.LIST.read_text("utf-8") == shipped.written()
    listed = {shipped.ROOT / line.split("  ")[1] for line in shipped.written().splitlines()}
    assert listed == {path for folder in (FOLDER, CERTIFICATES) for path in folder.rglob("*") if path.is_file()} | {
        judged.FILE,
        DROPPED,
        transcribe.WRITTEN,
    }
    done = subprocess.run(["sha256sum", "--check", "--quiet", shipped.LIST], cwd=shipped.ROOT, capture_output=True)
    assert done.returncode == 0, done.stdout


@pytest.fixture
def tree(tmp_path, monkeypatch):
    """A copy of the certificates, and of nothing else, with a list of its own."""
    shutil.copytree(CERTIFICATES, tmp_path / shipped.PLACES[1])
    monkeypatch.setattr(shipped, "ROOT", tmp_path)
    monkeypatch.setattr(shipped, "LIST", tmp_path / "shipped.sha256")
    monkeypatch.setattr(docs, "ROOT", tmp_path)
    assert docs.main(["--shipped"]) == 0 and shipped.faults() == []
    return tmp_path / shipped.PLACES[1]


def test_a_file_that_is_missing_another_or_not_listed_is_told_in_a_line(tree):
    (tree / "razor.json").unlink()
    (tree / "kv.json").write_bytes((tree / "kv.json").read_bytes() + b" ")
    (tree / "deep").mkdir()
    (tree / "deep" / "zzz.json").touch()
    told = [line.removeprefix(f"{shipped.PLACES[1]}/").split(":")[0] for line in shipped.faults()]
    assert told == ["deep/zzz.json is not listed", "kv.json was changed", "razor.json is missing"]


@pytest.mark.parametrize("text", [None, "no two columns\n"])
def test_a_list_that_is_missing_or_damaged_is_refused(tree, text):
    shipped.LIST.unlink() if text is None else shipped.LIST.write_text(text)
    with pytest.raises(BrokenLedger, match="the list of what ships cannot be read"):
        shipped.faults()
