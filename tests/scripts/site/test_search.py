"""The search of the site: ten phrases with their first hit, fixed before any ranking was written."""

import pytest

from tests.scripts.site.browser import errors, open_browser

FIRST = {
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
def test_a_phrase_finds_what_was_expected_before_there_was_a_ranking(browser, site, phrase):
    browser.get((site / "figures.html").as_uri())
    kind, title, link = hits(browser, phrase)[0]
    assert (kind, title) == FIRST[phrase]
    assert phrase != "value residual" or link.partition("#")[0].endswith("/arena.html")
    assert errors(browser) == []
