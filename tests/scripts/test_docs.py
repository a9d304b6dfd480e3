"""Generated pages are up to date, and staleness is noticed."""

import re
from fnmatch import fnmatchcase

import pytest
from markdown_it import MarkdownIt

from proofs_check.ledger import store, verdicts
from proofs_check.ledger.registry import load
from scripts import docs
from tests.scripts.gallery_commands import pictures


def test_no_generated_page_is_stale_or_holds_an_absolute_path(monkeypatch):
    """One test: the pages are made once, for the certificates are checked on the way, of mutants a sample."""
    checked, asked = verdicts.mutant_outcome, []

    def sampled(statement, certificate, known):
        asked.append(certificate is not None and int(statement.digest[:8], 16) % 8 == 0)
        told = "open" if certificate is None else "refuted" if "witness" in certificate else "true"
        return checked(statement, certificate, known) if asked[-1] else told

    monkeypatch.setattr(verdicts, "mutant_outcome", sampled)
    monkeypatch.setattr(store, "_MUTANTS", {})
    assert stale_pages() == []
    assert len(asked) > 1000 and sum(asked) > 100


@pytest.mark.deep
def test_no_generated_page_is_stale_with_every_mutant_checked():
    assert stale_pages() == []


def stale_pages():
    pages = docs.pages(load())
    assert [path.name for path, text in pages.items() if str(docs.ROOT) in text] == []
    return [path.name for path, text in pages.items() if path.read_text("utf-8") != text]


def test_a_changed_claim_makes_its_pages_stale():
    registry = load()
    name, claim = next(iter(registry.items()))
    from dataclasses import replace

    changed = registry | {name: replace(claim, statement="something else")}
    assert docs.claim_table(changed) != docs.claim_table(registry)
    assert docs.errata(changed) != docs.errata(registry)


ID_LIKE = re.compile(r"(?<![\w./-])(?:kv1?|razor|resformer|waiver)\.[\w*{},]+(?:\.[\w*{},]+)*")
PAGES = [docs.ROOT / "README.md", docs.ROOT / "CHANGELOG.md", *sorted((docs.ROOT / "docs").glob("*.md"))]
SCRIPTS = sorted((docs.ROOT / "scripts").glob("*.py"))


def patterns(text):
    """Every claim id, or pattern of ids, in a text; {a,b} stands for both."""
    for token in ID_LIKE.findall(text):
        yield from _expanded(token.rstrip(".,"))


def _expanded(token):
    match = re.search(r"\{([^}]*)\}", token)
    if not match:
        yield token
        return
    for part in match[1].split(","):
        yield from _expanded(token[: match.start()] + part + token[match.end() :])


@pytest.mark.parametrize("path", [*PAGES, *SCRIPTS], ids=lambda path: path.name)
def test_every_claim_that_is_named_exists(path):
    text = docs.headline(path) if path.suffix == ".py" else unescaped(path.read_text("utf-8"))
    names = list(load())
    assert [one for one in patterns(text) if not any(fnmatchcase(name, one) for name in names)] == []


def unescaped(markdown):
    return re.sub(r"\\([^\w\s])|\\_", lambda match: match[1] or "_", markdown)


def test_patterns_of_claims_are_found_and_expanded():
    text = "see kv.fig1a.{faster,two_layers}, `razor.thm1.*` (kv.tab5.*.trained). Not theory.alibi or a/kv.py, kv.x"
    found = ["kv.fig1a.faster", "kv.fig1a.two_layers", "razor.thm1.*", "kv.tab5.*.trained", "kv.x"]
    assert list(patterns(text)) == found


def rendered(source):
    """Paragraphs of a Markdown text as a reader sees them."""
    blocks = MarkdownIt().parse(source)
    kinds = {"text", "code_inline", "text_special"}
    return [
        "".join(part.content if part.type in kinds else f"<{part.type}>" for part in block.children)
        for block in blocks
        if block.type == "inline"
    ]


def test_every_caption_of_the_gallery_renders_to_its_own_text():
    shown = rendered(docs.gallery())
    captions = [docs.headline(path) for path in SCRIPTS if path.name.startswith("fig_")]
    captions += [docs.sweep_caption(picture.path.stem.removeprefix("fig_sweep_")) for picture in pictures()
                 if picture.path.stem.startswith("fig_sweep_")]  # fmt: skip
    assert [caption for caption in captions if caption not in shown] == []


@pytest.mark.parametrize(
    "text", ["a*b*c and _d_ (kv.fig2.*, kv.listing_l.*)", "x_{s-1} [1](2) |y| <b> \\ kv.a.{b_c,d_e} ||w - e_{s-1}||_1"]
)
def test_escaped_text_renders_to_itself(text):
    assert rendered(docs.markdown_text(text)) == [text]
    assert rendered(text) != [text]


def test_a_sweeps_caption_gives_its_sizes_and_seeds():
    caption = docs.sweep_caption("figure-1a")
    assert "vocabulary 32, rows of 4.9 different tokens" in caption and "width 32, 4 heads, MLP 64" in caption
    assert caption.endswith("8 seeds.")
