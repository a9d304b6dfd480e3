"""The search of the site: what phrases find first, its keys, its index, and the answers that it leads to."""

import html
import json
import math
import re
from collections import Counter

import pytest

from scripts.commands import docs, table
from scripts.pages import gallery
from scripts.pages.site import search
from scripts.pages.site.findings import QUESTIONS
from scripts.pages.theory_table import functions
from tests.scripts.site.browser import errors, look, open_browser
from theory import alibi

FIRST = {  # ten were fixed before any ranking was written
    "value residual": ("question", "Do value residuals help?"),
    "BLOOM": ("question", "How far can a BLOOM head see?"),
    "attention sink": ("command", "sinks"),
    "induction heads of my model": ("command", "heads"),
    "theorem 3.3": ("question", "Is Theorem 3.3 true?"),
    "kv.thm3.3": ("claim", "kv.thm3.3"),
    "figure 2": ("question", "Why is the printed figure wrong?"),
    "alibi scope": ("function", "theory.alibi.scope"),
    "receipt": ("command", "receipt"),
    "mutant": ("word", "Mutant"),
    # What a person may type besides, and where it led when the ranking was done.
    "softmax": ("function", "theory.shift.softmax"),
    "equation 10": ("command", "figure landscape"),
    "theorem 1": ("page", "RazorAttention, Section 3.1, Theorem 1, Eq. 2: is false"),
    "learning rate": ("page", "Four variants by learning rate"),
    "rope": ("figure", "A masked token is a first one without positions, with ALiBi, with RoPE, not with learned ones"),
    "Theorem 3.2": ("claim", "kv.thm3.2"),
    "copy error bound": ("function", "theory.induction.copy_error_bound"),
    "how do I train a model": ("command", "train"),
    "what is a margin?": ("word", "margin"),
    "sink weight": ("function", "theory.sink.copy_weights"),
    "glossary": ("page", "Words"),
    "lemma of my own": ("question", "Can I have a lemma of my own decided?"),
}


@pytest.fixture(scope="module")
def browser():
    with open_browser(1280, 900) as page:
        yield page


def hits(browser, phrase):
    """What the box lists: kind, title and address of each."""
    from selenium.webdriver.support.wait import WebDriverWait

    box = browser.find_element("id", "search")
    box.clear()
    box.send_keys(phrase)
    script = """const found = document.getElementById("found");
      return found.dataset.phrase === arguments[0] &&
        [...found.querySelectorAll("a")].map(a => [a.dataset.kind, a.querySelector("b").textContent, a.href]);"""
    return WebDriverWait(browser, 5).until(lambda page: page.execute_script(script, phrase) or None)


@pytest.mark.parametrize("phrase", FIRST)
def test_a_phrase_finds_first_what_was_expected(browser, site, phrase):
    browser.get((site / "figures.html").as_uri())
    kind, title, link = hits(browser, phrase)[0]
    assert (kind, title) == FIRST[phrase]
    assert phrase != "value residual" or link.partition("#")[0].endswith("/arena.html")
    assert errors(browser) == []


def found(browser):
    return browser.find_elements("css selector", "#found a")


def said(browser, words):
    from selenium.webdriver.support.wait import WebDriverWait

    return WebDriverWait(browser, 5).until(lambda page: page.find_element("id", "said").text == words)


def test_the_index_is_loaded_by_the_first_letter_and_keys_reach_all(browser, site):
    from selenium.webdriver.common.keys import Keys

    browser.get((site / "guide.html").as_uri())
    assert browser.execute_script("return !window.searchIndex && document.activeElement === document.body;")
    browser.switch_to.active_element.send_keys("/")
    box = browser.switch_to.active_element
    assert (box.get_attribute("id"), box.get_attribute("value")) == ("search", "")
    hits(browser, "alibi scope")
    box.send_keys(Keys.ARROW_DOWN, Keys.NULL)
    assert browser.switch_to.active_element == found(browser)[0]
    browser.switch_to.active_element.send_keys(Keys.ARROW_DOWN)
    assert browser.switch_to.active_element == found(browser)[1]
    browser.switch_to.active_element.send_keys(Keys.ARROW_UP)
    browser.switch_to.active_element.send_keys(Keys.ARROW_UP)
    assert browser.switch_to.active_element == box
    box.send_keys(Keys.ESCAPE)
    assert found(browser) == [] and box.get_attribute("value") == ""
    hits(browser, "alibi scope")
    box.send_keys(Keys.ENTER)
    assert browser.current_url == (site / "api.html").as_uri() + "#alibi.scope"
    assert errors(browser) == []


def test_it_says_how_many_and_when_there_is_nothing(browser, site):
    browser.get((site / "trust.html").as_uri())
    box = browser.find_element("id", "search")
    assert len(hits(browser, "theorem")) == 12 and said(browser, f"12 of {len(counted(browser, 'theorem'))}")
    box.clear()
    box.send_keys("theorem zebra")
    assert said(browser, "Nothing found.") and found(browser) == []
    box.clear()
    box.send_keys("../ (?")
    assert said(browser, "Nothing found.") and errors(browser) == []


def counted(browser, word):
    """Counted otherwise: the rows in which a word begins so, or as its short form does."""
    rows = browser.execute_script("return window.searchIndex;")
    return [row for row in rows if re.search(rf"(?<![^\W\d_])(?:{word}|thm)", f"{row[1]} {row[3]}".lower())]


def test_without_scripts_there_is_no_box(browser, site):
    look(browser, 1280, 900, javascript=False)
    try:
        browser.get((site / "guide.html").as_uri())
        assert not browser.find_element("id", "search").is_displayed()
        assert browser.find_element("css selector", "header a[href='claims.html']").is_displayed()
    finally:
        look(browser, 1280, 900)


def test_every_row_of_the_index_leads_somewhere(site):
    rows = index(site)
    assert {row[0] for row in rows} == set(range(len(search.KINDS)))
    pages = {str(path.relative_to(site)): path.read_text("utf-8") for path in site.glob("**/*.html")}
    ids = {name: set(re.findall(r'\bid="([^"]*)"', page)) for name, page in pages.items()}
    dead = []
    for kind, title, link, text in rows:
        page, _, anchor = link.partition("#")
        known = page == "explorer.html" or not anchor or anchor in ids[page]
        if not ((site / page).is_file() and known and title and text):
            dead.append((search.KINDS[kind], title, link))
    assert dead == []


def test_the_index_is_small_has_everything_and_few_titles_twice(site):
    rows = index(site)
    assert (site / "search-index.js").stat().st_size < 1_500_000
    kinds = Counter(search.KINDS[row[0]] for row in rows)
    assert (kinds["question"], kinds["claim"]) == (10, len(docs.ledger()))
    assert kinds["function"] == len(list(functions())) and kinds["figure"] == len(list(gallery.pictures()))
    titles = Counter((row[0], row[1]) for row in rows)
    twice = {search.KINDS[kind] for (kind, _), count in titles.items() if count > 1}
    assert twice <= {"page"}  # sections of papers have one name in each


def index(site):
    return json.loads((site / "search-index.js").read_text("utf-8").removeprefix("window.searchIndex = ")[:-2])


PAGES = [one for one in QUESTIONS if not one.link.startswith("explorer")]  # which answers in its own way


@pytest.mark.parametrize("question", PAGES, ids=[one.link for one in PAGES])
def test_a_question_is_answered_first_where_it_leads(site, question):
    page, _, anchor = question.link.partition("#")
    part = (site / page).read_text("utf-8").partition(f'id="{anchor or "main"}"')[2]
    first = search.plain(html.unescape(re.split("(?=<p[ >])", part)[1].partition("</p>")[0]))
    assert first == f"{question.asked} {question.answer}".replace("`", "")
    assert "python -m scripts" in question.answer


def test_numbers_of_the_answers_are_those_of_what_they_tell_of(site):
    answers = {one.link.partition("#")[0]: one.answer for one in QUESTIONS}
    arena = (docs.ROOT / "docs" / "arena.md").read_text("utf-8")
    for row, share, low, high in (("` of width 64", "0.86 %", 0.04, 1.67), ("-lambda-2`", "1.84 %", 0.65, 3.02)):
        assert f"{share} [{low}, {high}]" in answers["arena.html"]
        assert re.search(rf"\| `resformer{row} / .*\| -{share} \[-{high}, -{low}\] \| better", arena)
    degrees = docs.ledger()["kv.listing_l.picture"].note
    assert all(words in degrees for words in ("61.5 degrees on average at O(T) = 0", "0.5 at O(T) = 100"))
    explorer = (site / "explorer.html").read_text("utf-8")
    assert "median: 111.58," in explorer and "D is 111.58," in answers["explorer.html"]
    reach = [f"{math.ceil(alibi.scope(slope, 111.58, 1e-3)):,}" for slope in (1 / 4, 1 / 256)]
    assert all(f"from {places} " in answers["explorer.html"] for places in reach)


def test_commands_are_all_there_with_their_options(site):
    page = html.unescape((site / "commands.html").read_text("utf-8"))
    for name, line in table.commands().items():
        assert f'<article id="{name}">' in page and line[1:] in re.sub("</?code>", "`", page)
    for group, (_, members) in table.GROUPS.items():
        assert all(f"<code>{member}</code>" in page.partition(f'id="{group}"')[2] for member in members)
    heads = page.partition('id="heads"')[2].partition("</article>")[0]
    assert "python -m scripts heads dynamics/shipped/models/kv-shift" in heads
    assert "<dt><code>--exclude ID,..</code></dt><dd>ids that are never drawn" in heads
