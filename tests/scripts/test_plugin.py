"""A package of another paper, installed beside ours: the commands work for it, and this project's pages ignore it."""

import re
import sys
from os.path import normpath
from pathlib import Path

import pytest

from proofs_check.ledger import registry, store
from proofs_check.ledger.rows import record
from scripts.commands import audit, docs
from scripts.pages.site import view
from scripts.pages.site.pages import Pages
from tests.scripts.commands import read

FILES = {
    "other_paper/__init__.py": "from proofs_check.ledger.paper import read\n\n(OTHER,) = read(__name__)\n",
    "other_paper/paper.toml": """
title = "Exponentials & co."
link = "https://example.org/other"
short = "other paper"
sections = ["claims"]
[other.places]
theorem = ["Theorem 1"]
table = ["Table 1"]
""",
    "other_paper/claims.py": '''
from proofs_check.evidence.margin import same
from proofs_check.ledger.claim import ENUMERATED, Control, Severity, Verdict
from proofs_check.ledger.exact_claim import exact_claim
from proofs_check.ledger.mathematical import mathematical

CLAIMS = (
    mathematical("other.thm1", "Other paper, Theorem 1", "e^x exceeds 1 + x for all real x.", verdict=Verdict.FALSE,
                 severity=Severity.REPAIRABLE, note="They are equal at 0.", correction="other.thm1.corrected"),
    mathematical("other.thm1.corrected", "Other paper, Theorem 1, corrected", "e^x is at least 1 + x for all real x.",
                 is_correction=True),
    exact_claim("other.tab1", "Other paper, Table 1", "1 + 1 = 2", same, ({"printed": 2, "true": 1 + 1},),
                (Control("3", points=({"printed": 3, "true": 1 + 1},)),), coverage=ENUMERATED),
)
''',
    "other_paper/formal.py": """
from proofs_check.core.terms import exp
from proofs_check.language import real, statement

x = real("x")
FORMAL = {
    "other.thm1": statement("other.thm1", for_all=[x], says=exp(x) > 1 + x),
    "other.thm1.corrected": statement("other.thm1.corrected", for_all=[x], says=exp(x) >= 1 + x),
}
""",
    "other_paper-1.0.dist-info/METADATA": "Metadata-Version: 2.1\nName: other_paper\nVersion: 1.0\n",
    "other_paper-1.0.dist-info/entry_points.txt": f"[{registry.GROUP}]\nother = other_paper:OTHER\n",
}
NAMES = ["other.thm1", "other.thm1.corrected", "other.tab1"]


def own_pages():
    """Texts of this project's pages, what the core says left out."""
    claims = docs.ledger()
    rows = [record(claim, claims) for claim in claims.values()]
    site = Pages(rows, claims, {}, {})
    return [audit.errata(claims, rows), docs.findings(rows), site.nav, site.all()]


KEPT = (registry.installed.cache_clear, registry._mentions.cache_clear, store._file.cache_clear, store._ALONE.clear,
        view.places.cache_clear, store._digest.cache_clear)  # fmt: skip


@pytest.fixture
def other(tmp_path, monkeypatch):
    """The folder of the package, installed."""
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text, "utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    registry.installed.cache_clear()
    yield tmp_path / "other_paper"
    for forget in KEPT:
        forget()
    for module in [name for name in sys.modules if name.split(".")[0] == "other_paper"]:
        del sys.modules[module]


def test_the_commands_work_for_it(other, command, done, here):
    listed = done("verify", "--list", "--paper", "other")
    assert [line.split()[:2] for line in listed.splitlines()] == [
        ["other.thm1", "false"], ["other.thm1.corrected", "holds"], ["other.tab1", "holds"],
    ]
    (one, *_) = [claim.formal for claim in registry.load(("other",)).values()]
    assert store.judge(one.to_json())["message"] == "no certificate is stored for it"
    stored = other / "certificates" / "other.json"
    told = command("certify", "--id", NAMES[0], "--id", NAMES[1], "--jobs", 1)
    assert told[:2] == (0, f"{stored}: 2 statements, 0.00 MB\n") and "lists them as what ships" not in told[2]
    assert {entry["name"] for entry in store.entries(stored).values()} == set(NAMES[:2])
    store._file.cache_clear()
    store._ALONE.clear()
    done("verify", "--paper", "other", "--jobs", 1, "--quiet", "--json", "v.json")
    assert [(row["status"], row["strength"]) for row in read("v.json")["claims"]] == [
        ("confirmed", "proved"), ("confirmed", "proved"), ("confirmed", "argued"),
    ]

    assert len(done("audit", "other").split()) == 2
    report = (here / "out/audit/other/report.md").read_text("utf-8")
    assert "Exponentials & co.*, <https://example.org/other>" in report and "(other.thm1.corrected, proved)" in report
    done("report", "--from", "v.json", "--out", "report.html")
    page = (here / "report.html").read_text("utf-8")
    assert '<a href="https://example.org/other">Exponentials &amp; co.</a>' in page and "arxiv" not in page


def test_its_pages_are_written_where_they_are_asked_for_and_lead_nowhere_else(other, done, here):
    written = done("docs", "--paper", "other", "--site", "site").split()
    assert {name.removeprefix("site/") for name in written} == {
        "claims.html", "errata.html", "errata.md", "paper-other.html", "style.css",
        *(f"claims/{name}.html" for name in NAMES),
    }
    texts = {name: (here / name).read_text("utf-8") for name in written}
    assert "## Exponentials & co.\n\n<https://example.org/other>" in texts["site/errata.md"]
    assert "other_paper/claims.py:8" in texts[f"site/claims/{NAMES[0]}.html"]
    for name, text in texts.items():
        links = [link for link in re.findall(r'href="([^"]+)"', text) if "://" not in link]
        ends = [normpath(Path(name).parent / link) if link[0] != "#" else f"{name}{link}" for link in links]
        assert {end.split("#")[0] for end in ends} <= set(written), name
        assert all(f'id="{end.split("#")[1]}"' in texts[end.split("#")[0]] for end in ends if "#" in end)


def test_the_pages_of_this_project_are_the_same_beside_it(request, monkeypatch):
    before = own_pages()
    request.getfixturevalue("other")
    assert "other" in registry.installed() and "other.thm1" in registry.load() and own_pages() == before
    seen = []
    monkeypatch.setattr(docs, "records", lambda claims: seen.append(set(claims)) or [])
    monkeypatch.setattr(docs, "pages", lambda claims, rows: {})
    docs.main(["--check"])
    assert seen and not set(NAMES) & seen[0]


def test_a_claim_of_another_package_is_refused_in_a_line(other, command):
    claims = other / "claims.py"
    claims.write_text(claims.read_text("utf-8").replace("other.tab1", "kv.tab15.better"), "utf-8")
    told = "other_paper holds a claim 'kv.tab15.better', and the paper kv belongs to proofs_check.kv"
    assert command("verify", "--id", "kv.tab15.better") == (1, "", f"error: {told}\n")
    assert command("audit", "other") == (2, "", f"error: {told}\n")


def test_its_places_are_its_own(other):
    paper = registry.installed()["other"]
    assert not paper.host and paper.place("Theorem 1, corrected").kinds == ("theorem",)
    with pytest.raises(ValueError, match="other has no Table 2: did you mean 'Table 1'"):
        paper.place("Table 2")
