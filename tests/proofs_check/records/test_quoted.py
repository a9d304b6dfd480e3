"""What data files say of the papers' texts: quotations rule on nothing, and a name is ruled on by the paper's list."""

import tomllib
from dataclasses import replace
from pathlib import Path

import pytest

import proofs_check
from proofs_check.ledger import registry
from proofs_check.ledger.claim import Kind, Nature, Verdict
from proofs_check.ledger.rule import source
from proofs_check.records import quoted
from proofs_check.records.refers import refers
from scripts.pages.site import view

FOLDER = Path(proofs_check.__file__).parent
FILES = sorted(FOLDER.glob("*/*/*.toml"))
ENTRY = '["waiver.sec1.first"]\nat = "Section 1"\n'
WHOLE = f'{ENTRY}says = "They are the first."\ntakes = "It takes time."\n'
NAMED = f'{ENTRY}among = "labels"\nprinted = ["Section 9"]\n'
REFUSED = {
    "a field is missing": f'{ENTRY}says = "They are the first."\n',
    "a field is misspelt": WHOLE.replace("takes", "take"),
    "a field too many": f'{WHOLE}verdict = "holds"\n',
    "a number": f"{ENTRY}says = 3\ntakes = 4\n",
    "an empty text": f'{ENTRY}says = " "\ntakes = "It takes time."\n',
    "an id without quotes": WHOLE.replace('"waiver.sec1.first"', "waiver.sec1.first"),
    "no entry": "verdict = 1\n",
    "one id twice": 2 * WHOLE,
    "no TOML": f"{WHOLE}and so on\n",
    "another paper": WHOLE.replace("waiver", "wafer"),
    "another place": WHOLE.replace("Section 1", "Section 9"),
    "a word as a list": NAMED.replace('["Section 9"]', '"Section 9"'),
    "no name": NAMED.replace('["Section 9"]', "[]"),
    "a name too few": f"{NAMED}meant = []\n",
    "a verdict": f'{NAMED}verdict = "holds"\n',
    "both kinds": f'{NAMED}takes = "It takes time."\n',
}


def test_every_entry_is_a_claim_at_its_place():
    claims, seen = registry.load(), []
    for path in FILES:
        for name, entry in tomllib.loads(path.read_text("utf-8")).items():
            claim = claims[name]
            assert claim.source == source(name, entry["at"]) and not claim.is_correction
            assert view.places()[name].startswith(f"{path.relative_to(FOLDER.parent)}:")
            seen.append(name)
            if "says" in entry:
                assert (claim.statement, claim.note, claim.coverage) == (entry["says"], entry["takes"], None)
                assert (claim.verdict, claim.nature) == (Verdict.UNSETTLED, Nature.EMPIRICAL)
                assert [evidence.kind for evidence in claim.evidence] == [Kind.READ]
    assert len(seen) == len(set(seen)) > 190
    assert [path for path in FILES if "quoted(__file__)" not in path.with_suffix(".py").read_text("utf-8")] == []


@pytest.mark.parametrize("text", REFUSED.values(), ids=REFUSED)
def test_another_entry_is_refused_in_a_line(text, tmp_path):
    for right in (WHOLE, NAMED):
        (tmp_path / "told.toml").write_text(right)
        assert [claim.id for claim in quoted(str(tmp_path / "told.py"))] == ["waiver.sec1.first"]
    (tmp_path / "told.toml").write_text(text)
    with pytest.raises(ValueError) as refusal:
        quoted(str(tmp_path / "told.py"))
    assert "\n" not in str(refusal.value)


# The place, the list, what is printed and what is meant; the verdict, or what is wrong with the entry.
NAMES = {
    "a label of the paper": ("Section 3", "labels", ["Theorem 3.2"], [], "holds"),
    "of the other version": ("Section 3", "labels", ["Theorem 1"], ["Theorem 3.2"], "typo"),
    "of no version": ("Section 3 (both versions)", "labels", ["Section 2.3"], ["Section 3.1"], "typo"),
    "one of two": ("Section 3", "symbols", ["beta_0", "beta_2"], ["beta_1", "beta_2"], "typo"),
    "nothing in its place": ("Section 3", "labels", ["Lemma D.1", "Theorem 3.2"], [], "typo"),
    "right, and mended": ("Section 3", "labels", ["Theorem 3.2"], ["Theorem 3.3"], "cannot be meant"),
    "mended by what is not there": ("Section 3", "labels", ["Theorem 3.9"], ["Theorem 3.8"], "cannot be meant"),
    "right in one version": ("Section 3 (both versions)", "labels", ["Theorem 1"], [], "one version has Theorem 1"),
    "no list": ("Section 3", "lemmas", ["Lemma D.1"], [], "kv has no list of lemmas"),
}


@pytest.mark.parametrize(("at", "among", "printed", "meant", "outcome"), NAMES.values(), ids=NAMES)
def test_a_name_is_ruled_on_by_the_list_alone(at, among, printed, meant, outcome):
    if outcome not in ("holds", "typo"):
        with pytest.raises(ValueError, match=outcome):
            refers("kv.sec3.name", at, among, printed, meant)
        return
    claim = refers("kv.sec3.name", at, among, printed, meant)
    (evidence,) = claim.evidence
    (control,) = evidence.controls
    assert claim.verdict.value == outcome and (claim.severity is None) is (outcome == "holds")
    assert all(evidence.margin(**point).value >= 0 for point in evidence.points)
    assert any(evidence.margin(**point).value < 0 for point in control.points)


def test_a_list_that_changes_changes_the_verdict(monkeypatch):
    """A planted label: what was a misprint is none, and an entry that mends it is refused."""
    kv = registry.installed()["kv"]
    longer = replace(kv, places={**kv.places, "Lemma D.1": "theorem"})
    monkeypatch.setitem(registry.installed(), "kv", longer)
    assert refers("kv.appA.name", "Appendix A", "labels", ["Lemma D.1"]).verdict is Verdict.HOLDS
    with pytest.raises(ValueError, match="cannot be meant"):
        refers("kv.appA.name", "Appendix A", "labels", ["Lemma D.1"], ["Theorem 3.2"])
