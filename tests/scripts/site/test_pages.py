"""The site's pages: every link leads somewhere, every claim has its place, questions are answered near the front."""

import re
from html.parser import HTMLParser
from os.path import normpath
from pathlib import Path

import pytest

from proofs_check.ledger.registry import dropped, load
from scripts.commands import docs
from scripts.pages import gallery
from scripts.pages.site import build, text
from scripts.pages.site.findings import FINDINGS, QUESTIONS
from scripts.pages.site.view import claim_link, page_of
from tests.scripts.commands import contents
from tests.scripts.site import made

VOID = {"meta", "link", "img", "input", "br", "hr"}


class Read(HTMLParser):
    """Links, sources, ids and visible words of a page; what is opened and not closed."""

    def __init__(self, page):
        super().__init__()
        self.links, self.ids, self.open, self.words = [], [], [], []
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        found = dict(attrs)
        self.links += [found[key] for key in ("href", "src") if key in found]
        self.ids += [found["id"]] if "id" in found else []
        if tag not in VOID:
            self.open.append(tag)
        if tag == "img":
            assert found.get("alt"), found

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag):
        assert self.open.pop() == tag, tag

    def handle_data(self, data):
        self.words.append(data)


@pytest.fixture(scope="module")
def read(site):
    return {path.relative_to(site).as_posix(): Read(path.read_text("utf-8")) for path in site.rglob("*.html")}


def test_every_link_and_anchor_leads_somewhere(site, read):
    broken = []
    for name, page in read.items():
        assert page.open == [] and len(page.ids) == len(set(page.ids)), name
        for link in page.links:
            if re.match(r"https?://|data:", link):
                continue
            way, _, fragment = link.partition("#")
            target = normpath(Path(name).parent / way) if way else name
            there = read.get(target)
            exists = (site / target).is_file()
            known = not fragment or there is None or "=" in fragment or fragment in there.ids
            if not exists or not known:
                broken.append(f"{name}: {link}")
    assert broken == []


def test_every_claim_has_one_permanent_place(read):
    for name in (*load(), *dropped()):
        assert name in read[page_of(name)].ids
    assert {claim_link(name) for name in load()} == {name for name in read if name.startswith("claims/")}


ANSWERS = {
    "Is Theorem 3.3 true?": "kv.thm3.3.impossible",
    "How far can a BLOOM head see?": "ALiBi",
    "Why is the printed figure wrong?": "61.5 degrees",
    "Do value residuals help?": "-0.86 % [-1.67, -0.04]",
    "What was trained, on which data, with how many seeds?": "8 seeds or more",
    "Is a verdict proved, or only sampled?": "it was tried at random points",
    "Can I trust a verdict?": "what decides, found by its imports",
    "Can I have a lemma of my own decided?": "softmax.at_most_one",
    "Which heads do induction in my model?": "heads owner/name --text FILE",
    "How do I check a paper of 30 claims?": "induction_workbench.papers",
}


@pytest.mark.parametrize("question", QUESTIONS, ids=[one.link for one in QUESTIONS])
def test_a_first_question_is_answered_within_two_links(read, question):
    assert question.link in read["index.html"].links
    assert ANSWERS[question.asked] in "".join(read[question.link.split("#")[0]].words)


def test_every_figure_has_its_caption_and_its_command(read):
    shown = " ".join("".join(read["figures.html"].words).split())
    for picture in gallery.pictures():
        assert picture.command in shown
        assert " ".join(picture.caption.replace("`", "").split()) in shown
    assert {one.figure for one in FINDINGS} <= {picture.name for picture in gallery.pictures()}


def test_pages_hold_no_place_of_this_machine_and_no_address_to_load(site):
    for path in site.rglob("*.html"):
        page = path.read_text("utf-8")
        assert str(docs.ROOT) not in page and len(page) < 600_000, path.name
        assert not re.search(r'(?:src|href)="(?:https?:)?//(?!arxiv\.org)', re.sub(r"<a [^>]*>", "", page)), path.name


@pytest.mark.deep
def test_pages_are_the_same_bytes_twice(site, tmp_path):
    build.write_pages(tmp_path, made.pages.__wrapped__())
    for path in site.glob("*.html"):
        assert (tmp_path / path.name).read_bytes() == path.read_bytes(), path.name


def test_figures_are_drawn_once_for_one_state_of_the_sources(tmp_path, monkeypatch):
    few = [picture for picture in gallery.pictures() if picture.name in ("fig_waiver_token", "fig_sink_reach")]
    monkeypatch.setattr(build.gallery, "pictures", lambda: few)

    def made():
        with build.drawing(tmp_path, jobs=1) as count:
            pass
        return count

    assert made() == 2
    first = contents(tmp_path)
    (tmp_path / "of_old.png").write_bytes(b"")
    assert made() == 0
    (tmp_path / "fig_sink_reach.png").unlink()
    assert made() == 1
    assert contents(tmp_path) == first
    monkeypatch.setattr(build, "sources", lambda: "others\n")
    assert made() == 2


def test_markdown_keeps_its_text_and_gains_links_and_anchors():
    ids = {"kv.thm3.3"}
    page = text.html("# A b\n\nsee `kv.thm3.3`, `kv.other` <b> [c](claims-kv.md#x) | ![p](fig_a.png)\n\n## A b", ids)
    assert '<h1 id="a-b">' in page and '<h2 id="a-b-1">' in page
    assert '<a href="claims/kv.thm3.3.html"><code>kv.thm3.3</code></a>' in page
    assert "<code>kv.other</code>" in page and "&lt;b&gt;" in page
    assert 'href="paper-kv.html#x"' in page and 'src="figures/fig_a.png"' in page
