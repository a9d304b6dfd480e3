"""A place is looked up in the paper's own list, in the words of a referee; anything else is one line."""

import sys
from dataclasses import replace
from types import ModuleType

import pytest

from proofs_check.kv import KV, KV1
from proofs_check.ledger import paper
from proofs_check.ledger.registry import installed, load

# What a referee writes: the labels, those of the first version, and the kinds, the weightiest first.
PLACES = {
    "Abstract": ("Abstract", "", "text"),
    "Section 3.2, Theorem 3.4, Eq. 10": ("Section 3.2|Theorem 3.4|Eq. 10", "", "theorem equation text"),
    "Appendix A, second inequality": ("Appendix A", "", "proof"),
    "Appendices A and C, Equations 13 and 14": ("Appendix A|Appendix C|Eq. 13|Eq. 14", "", "proof equation"),
    "Tables 12 to 14, last column": ("Table 12|Table 13|Table 14", "", "table"),
    "Figures 4a to 4c": ("Figure 4a|Figure 4b|Figure 4c", "", "figure"),
    "Listing of Appendix K (first version: D)": ("Appendix K", "Appendix D", "listing"),
    "Table 4 (first version: Table 7), caption": ("Table 4", "Table 7", "table"),
    "Section 4.5 (first version: 4.7), Figure 7a (first version: 8b)": (
        "Section 4.5|Figure 7a", "Section 4.7|Figure 8b", "figure text"),
    "Appendix F.1 and Fig. 10a; first version, Section 4.6": ("Appendix F.1|Figure 10a", "Section 4.6", "figure text"),
    "Sections 2.1 and 3.1 (both versions)": ("Section 2.1|Section 3.1", "Section 2.1|Section 3.1", "text"),
    "Section 3.1, Theorem 3.2 (first version: Theorem 1), Eq. 8 (both versions)": (
        "Section 3.1|Theorem 3.2|Eq. 8", "Theorem 1|Section 3.1|Eq. 8", "theorem equation text"),
    "footnote 8, first sentence": ("footnote 8", "", "text"),
    "Section 3.2, Various depth, paragraph 2": ("Section 3.2|Various depth", "", "text"),
    "added to Table 6": ("Table 6", "", "table"),
    "Appendix F, trained here": ("Appendix F", "", "text"),
}


@pytest.mark.parametrize("at", PLACES)
def test_a_place_is_read_as_it_is_meant(at):
    found = KV.place(at)
    assert ("|".join(found.labels), "|".join(found.first), " ".join(found.kinds)) == PLACES[at]
    assert found.ours is at.startswith(("added", "Appendix F,")) and (found.paper, found.text) == ("kv", at)
    assert found.versions == (("final", "first version") if found.first else ("final",))


REFUSED = {
    "Table 17": "'Table 17': kv has no Table 17: did you mean 'Table 7'",
    "Theorem 3.9": "kv has no Theorem 3.9: did you mean 'Theorem 3",
    "Theorem 1": "kv has no Theorem 1",
    "Theorem 3.2 (both versions)": "kv1 has no Theorem 3.2",
    "Section 3.3, Theorem 3.2 (first version: Theorem 1), Eq. 14 (both versions)": "kv1 has no Eq. 14",
    "Table 16 (first version: Table 16)": "kv1 has no Table 16",
    "Tabel 3": "there is no place 'Tabel': did you mean 'Table'",
    "Section 3.2, on T = 2": "there is no place 'T'",
    "Section 3.2, Lemma 2": "there is no place 'Lemma'",
    "Eq. 2, 1/sqrt": "there is no place '1/sqrt'",
    "Tables 6-13": "there is no place",
    "Tables 13 to 6": "from Table 13 to Table 6 there is no range",
    "Figures 4a to 5c": "from Figure 4a to Figure 5c there is no range",
    "Appendix C to 4": "from Appendix C to Appendix 4 there is no range",
    "the caption": "'the caption' names no place of kv",
    "": "names no place",
    "(first version: Table 1)": "names no place",
    "3.2": "there is no place '3.2'",
}


@pytest.mark.parametrize("at", REFUSED)
def test_what_is_no_place_is_refused_in_a_line(at):
    with pytest.raises(ValueError, match=r"^[^\n]+$") as told:
        KV.place(at)
    assert REFUSED[at] in str(told.value)


def test_a_first_version_is_looked_up_where_there_is_one():
    assert KV1.place("Theorem 2, corrected").kinds == ("theorem",) and KV.first is KV1
    with pytest.raises(ValueError, match="the paper has no first version"):
        KV1.place("Theorem 2 (first version: Theorem 1)")


def test_most_sources_of_the_ledger_are_places_of_their_papers_as_they_stand():
    """The others tell of a place in other words; none names a label that its paper does not have."""
    read, lacking = 0, set()
    for claim in load().values():
        try:
            installed()[claim.paper].place(claim.source.partition(", ")[2])
            read += 1
        except ValueError as fault:
            lacking |= {claim.source} if " has no " in str(fault) else set()
    assert read > 750
    assert lacking == set()


BASE = 'title = "A"\nlink = ""\nsections = ["one"]\n'
BROKEN = {
    "no file": (None, "No such file"),
    "no TOML": ("[a", "describes no paper"),
    "no title": ('link = ""\nsections = []\n[a]\n', "title"),
    "no sections": ('title = ""\nlink = ""\n[a]\n', "sections"),
    "a field that there is not": (BASE + "pages = 3\n[a]\n", "pages"),
    "a kind that there is not": (BASE + '[a.places]\nlemma = ["Lemma 1"]\n', "'lemma', which is no kind of place"),
    "a label twice": (BASE + '[a.places]\ntable = ["Table 1 to 3", "Table 2"]\n', "'Table 2' is listed twice"),
    "no range": (BASE + '[a.places]\ntable = ["Table 3 to 1"]\n', "from Table 3 to Table 1 there is no range"),
    "a first version that is not described before": (BASE + '[a]\nfirst = "b"\n[b]\n', "'b'"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_file_that_describes_no_paper_is_one_line(name, tmp_path, monkeypatch):
    text, told = BROKEN[name]
    module = ModuleType("planted_paper")
    module.__file__ = str(tmp_path / "__init__.py")
    monkeypatch.setitem(sys.modules, "planted_paper", module)
    if text is not None:
        (tmp_path / "paper.toml").write_text(text, "utf-8")
    with pytest.raises(ValueError, match=r"^[^\n]*paper\.toml describes no paper: [^\n]+$") as fault:
        paper.read("planted_paper")
    assert told in str(fault.value)
    (tmp_path / "paper.toml").write_text(BASE + '[a]\nversion = "v1"\n', "utf-8")
    (found,) = paper.read("planted_paper")
    assert found == replace(found, short="a", page="a", version="v1", certificates=tmp_path / "certificates/a.json")
