"""Quotations are entries of data files: three texts each, at a place that resolves, and never a ruling."""

import tomllib
from pathlib import Path

import pytest

import proofs_check
from proofs_check.ledger.claim import Kind, Nature, Verdict
from proofs_check.ledger.registry import load
from proofs_check.records import quoted
from proofs_check.records.place import source
from scripts.pages.site import view

FOLDER = Path(proofs_check.__file__).parent
FILES = [path for path in sorted(FOLDER.glob("*/*/*.toml")) if "\nsays = " in path.read_text("utf-8")]
ENTRY = '["waiver.sec1.first"]\nat = "Section 1"\nsays = "They are the first."\n'
WHOLE = f'{ENTRY}takes = "It takes time."\n'
REFUSED = {
    "a field is missing": ENTRY,
    "a field is misspelt": f'{ENTRY}take = "It takes time."\n',
    "a field too many": f'{WHOLE}verdict = "holds"\n',
    "a number": f"{ENTRY}takes = 3\n",
    "an empty text": f'{ENTRY}takes = " "\n',
    "an id without quotes": WHOLE.replace('"waiver.sec1.first"', "waiver.sec1.first"),
    "no entry": "verdict = 1\n",
    "one id twice": 2 * WHOLE,
    "no TOML": f"{WHOLE}and so on\n",
}


def test_every_entry_is_a_claim_that_rules_on_nothing():
    claims, seen = load(), []
    for path in FILES:
        for name, entry in tomllib.loads(path.read_text("utf-8")).items():
            claim = claims[name]
            assert (claim.source, claim.statement, claim.note) == (
                source(name, entry["at"]), entry["says"], entry["takes"])  # fmt: skip
            assert claim.verdict is Verdict.UNSETTLED and claim.nature is Nature.EMPIRICAL and not claim.is_correction
            assert [evidence.kind for evidence in claim.evidence] == [Kind.READ] and claim.coverage is None
            assert view.places()[name].startswith(f"{path.relative_to(FOLDER.parent)}:")
            seen.append(name)
    assert len(seen) == len(set(seen)) > 180


@pytest.mark.parametrize("text", REFUSED.values(), ids=REFUSED)
def test_another_entry_is_refused_in_a_line(text, tmp_path):
    (tmp_path / "told.toml").write_text(WHOLE)
    assert [claim.id for claim in quoted(str(tmp_path / "told.py"))] == ["waiver.sec1.first"]
    (tmp_path / "told.toml").write_text(text)
    with pytest.raises(ValueError) as refusal:
        quoted(str(tmp_path / "told.py"))
    assert "\n" not in str(refusal.value)


def test_a_section_reads_each_data_file():
    assert [path for path in FILES if "quoted(__file__)" not in path.with_suffix(".py").read_text("utf-8")] == []
