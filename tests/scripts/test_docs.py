"""Generated pages are up to date, and staleness is noticed."""

import re
import shlex
from fnmatch import fnmatchcase
from html import escape

import pytest
from markdown_it import MarkdownIt
from transformers import BatchEncoding

from proofs_check.ledger import judged, store
from proofs_check.ledger.claim import Extent, Severity, Status, Verdict
from proofs_check.ledger.registry import dropped, load, resolved, statements
from proofs_check.ledger.rows import beside
from scripts import __main__ as one_command
from scripts.commands import audit, docs, table
from scripts.pages import family_page, gallery
from scripts.pages.markdown import escaped, markdown_text
from scripts.pages.site.pages import Pages
from scripts.pages.site.view import claim_link
from tests.dynamics.hf import models
from tests.scripts.commands import text_of


@pytest.fixture(scope="module")
def claims():
    return load()


@pytest.fixture(scope="module")
def ledger(claims):
    return claims, docs.records(claims)


def blocks(text):
    """The indented blocks of a Markdown text."""
    return [block.content for block in MarkdownIt().parse(text) if block.type == "code_block"]


@pytest.fixture
def elsewhere(here):
    """A folder that has the shipped models, and a text, where a checkout has them."""
    for name in ("dynamics", "LICENSE"):
        (here / name).symlink_to(docs.ROOT / name)
    return here


def test_the_guide_runs_from_python_as_printed(elsewhere):
    first = text_of("docs/guide.md").split("\n## ")[1]
    assert first.startswith("From Python") and len(blocks(first)) == 3
    for block in blocks(first):
        exec(block, {})
    assert (elsewhere / "plane.png").stat().st_size > 10_000


def test_the_guides_recipe_for_a_cache_saves_memory_where_a_model_has_256_positions():
    """50 tokens and 100 new ones."""
    (recipe,) = [block for block in blocks(text_of("docs/guide.md")) if "import razor\n" in block]
    inputs, model = BatchEncoding({"input_ids": models.tokens(1, 50)}), models.model("gpt2", n_positions=256)
    exec(recipe, given := {"model": model, "n_kv_heads": 4, "inputs": inputs})
    assert given["cache"].get_seq_length() == 149 and given["cache"].nbytes() < 0.9 * 149 * 2 * 2 * 32 * 8
    assert given["plan"].drops(149)


def commands_of(page):
    """The command lines in the indented blocks of a page."""
    lines = "".join(blocks(text_of(page))).splitlines()
    return [shlex.split(line, comments=True)[3:] for line in lines if line.startswith("python -m scripts ")]


def test_the_readme_runs_as_printed_and_prints_what_it_says(elsewhere, capsys):
    assert len(commands_of("README.md")) == 12
    for words in commands_of("README.md"):
        assert one_command.main([*words, *["--quiet"] * (words[0] == "train")]) == 0
    printed = capsys.readouterr().out
    told = re.findall(r"(?:prints|answer\sis) `([^`]+)`", text_of("README.md"))
    assert len(told) == 3 and [words for words in [*told, "103.151"] if words not in printed] == []


def test_commands_of_the_guide_are_taken_by_their_parsers():
    lines = [words for words in commands_of("docs/guide.md") if words != ["--help"]]
    assert len(lines) > 15
    for words in lines:
        name = " ".join(words[: 2 if words[0] in table.GROUPS else 1])
        table.module(name).parser().parse_args(words[len(name.split()) :])


@pytest.mark.parametrize("page", ["README.md", *(f"docs/{name}.md" for name in ("guide", "own-claims", "receipts"))])
def test_links_lead_to_files(page):
    links = [link.split("#")[0] for link in re.findall(r"\]\(([^)]+)\)", text_of(page)) if "://" not in link]
    folder = (docs.ROOT / page).parent
    assert [link for link in links if link and not (folder / link).exists()] == []


def test_pages_that_a_help_names_exist():
    told = {name: table.module(name).parser().format_help() for name in table.COMMANDS}
    named = {(name, page) for name, text in told.items() for page in re.findall(r"docs/[\w-]+\.md", text)}
    assert len(named) > 2 and [one for one in named if not (docs.ROOT / one[1]).is_file()] == []
    assert [name for name, text in told.items() if "see the README" in text] == []


def test_no_page_written_by_hand_counts_the_claims():
    notebooks = (docs.ROOT / "examples/notebooks").glob("*.py")
    hands = [*notebooks, *(docs.ROOT / f"docs/{name}.md" for name in ("guide", "own-claims"))]
    assert [path.name for path in hands if re.search(r"\d{3} claims", path.read_text("utf-8"))] == []


def test_the_glossary_has_every_word_of_the_ledger(ledger):
    """Verdicts, severities, what a run finds, strengths, coverages: none is printed without being explained."""
    text = text_of("docs/glossary.md")
    words = {word.value for kind in (Verdict, Severity, Status, Extent) for word in kind}
    words |= {row.strength for row in ledger[1] if row.strength}
    assert [word for word in sorted(words) if not re.search(rf"[`*]{word}[`*]", text)] == []


def test_no_generated_page_is_stale_or_holds_an_absolute_path(ledger):
    pages = docs.pages(*ledger)
    assert [path.name for path, text in pages.items() if str(docs.ROOT) in text] == []
    assert [path.name for path, text in pages.items() if path.read_text("utf-8") != text] == []
    assert judged.stale(statements(ledger[0].values()).values()) == []


@pytest.mark.parametrize(("share", "of_mutants"), [(16, 128), pytest.param(1, 1, marks=pytest.mark.deep)])
def test_what_is_kept_of_the_core_is_what_it_says(ledger, share, of_mutants):
    """A sixteenth of the certificates, and the mutants of one statement in a hundred and twenty-eight."""
    assert unlike(ledger[0], share, of_mutants) == []


def unlike(registry, share, share_of_mutants):
    """The names of statements of which the core says something else: of one in `share`, some with their mutants."""
    wrong = []
    for one in (claim.formal for claim in registry.values() if claim.formal is not None):
        drawn, place = int(one.digest[:8], 16), share // 8  # those at this place take seconds
        if drawn % share == place:
            tried, kept = drawn % share_of_mutants == place, judged.judged(one.to_json())
            if store.judge(one.to_json(), mutants=tried) != (kept if tried else {**kept, "mutants": None}):
                wrong.append(one.name)
    return wrong


def test_what_is_kept_goes_with_what_it_follows_from(ledger, monkeypatch):
    one = next(one for one in statements(ledger[0].values()).values() if store.filed(one) is not None)
    assert judged.stale([one])[0] != one.name  # the others have gone
    monkeypatch.setattr(judged, "file_digest", lambda statement: "another file")
    assert judged.stale([one])[0] == one.name
    monkeypatch.undo()
    monkeypatch.setattr(judged, "_trusted", lambda: "another core")
    assert judged.stale([one])[0] == one.name


def test_what_the_core_says_stands_beside_the_sentence_that_it_decided(ledger):
    registry, rows = ledger
    decided = [row for row in rows if row.strength == "proved"]
    site = Pages(rows, registry, {}, {}).all()
    assert len(decided) > 100
    for row in decided:
        page = site[claim_link(row.id)]
        assert f"As the core reads it: {row.core['outcome']}" in page, row.id
        assert all(escape(part, quote=False) in page for part in beside(row).split("; where ")), row.id
    assert all(escaped(row.as_data) in family_page.page(registry) for row in decided if "family.gap" in row.id)
    errata = audit.errata(registry, rows)
    refuted = [row for row in decided if row.verdict in audit.FOUND and row.core["outcome"] == "refuted"]
    assert len(refuted) > 5
    for row in refuted:
        definitions = filter(None, beside(row).removeprefix("Where ").split("; where "))
        assert escaped(row.statement) in errata and all(f"- `{line}`" in errata for line in definitions), row.id


ID_LIKE = re.compile(r"(?<![\w./-])(?:kv1?|razor|resformer|waiver)\.[\w*{},]+(?:\.[\w*{},]+)*")
PAGES = [docs.ROOT / "README.md", docs.ROOT / "CHANGELOG.md", *sorted((docs.ROOT / "docs").glob("*.md"))]
SCRIPTS = sorted((docs.ROOT / "scripts").rglob("*.py"))


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
def test_every_claim_that_is_named_exists(path, claims):
    text = gallery.headline(path) if path.suffix == ".py" else unescaped(path.read_text("utf-8"))
    names = [*claims, *(dropped() if path.name == "CHANGELOG.md" else ())]
    assert [one for one in patterns(text) if not any(fnmatchcase(name, one) for name in names)] == []


def test_the_changelog_counts_and_names_the_claims_that_went():
    text = (docs.ROOT / "CHANGELOG.md").read_text("utf-8").split("**No claims any more.**")[1]
    gone = {name for name, became in dropped().items() if resolved(name) != became}
    named = re.findall(r"`([\w.]+)`", text)
    assert text.startswith(f" {len(gone)} statements") and len(named) == len(gone)
    assert f" {len(dropped()) - len(gone)} other ids became parts" in text
    assert [one for one in gone if not one.endswith(tuple(named))] == []


def unescaped(markdown):
    return re.sub(r"\\([^\w\s])|\\_", lambda match: match[1] or "_", markdown)


def rendered(source):
    """Paragraphs of a Markdown text as a reader sees them."""
    blocks = MarkdownIt().parse(source)
    kinds = {"text", "code_inline", "text_special"}
    return [
        "".join(part.content if part.type in kinds else f"<{part.type}>" for part in block.children)
        for block in blocks
        if block.type == "inline"
    ]


@pytest.mark.parametrize(
    "text", ["a*b*c and _d_ (kv.fig2.*, kv.listing_l.*)", "x_{s-1} [1](2) |y| <b> \\ kv.a.{b_c,d_e} ||w - e_{s-1}||_1"]
)
def test_escaped_text_renders_to_itself(text):
    assert rendered(markdown_text(text)) == [text]
    assert rendered(text) != [text]


def test_a_sweeps_caption_gives_its_sizes_and_seeds():
    caption = gallery.sweep_caption("figure-1a")
    assert "vocabulary 32, rows of 4.9 different tokens" in caption and "width 32, 4 heads, MLP 64" in caption
    assert caption.endswith("8 seeds.")
