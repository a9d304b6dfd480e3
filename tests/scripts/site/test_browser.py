"""The site in Chromium: wide and narrow, light and dark, with and without scripts; skipped where it is not."""

import pytest

from tests.scripts.site.browser import errors, faults, look, open_browser, overflow
from tests.shares import one_in

WIDTHS = (1280, 390)


@pytest.fixture(scope="module")
def browser():
    with open_browser(WIDTHS[0], 900) as page:
        yield page


# One page of each kind; all of them take minutes.
FEW = (
    "api", "claims", "commands", "dissected", "explorer", "figures", "guide", "index",
    "notebook-rule_on_your_own_claim", "paper-waiver", "claims/razor.thm1",
)  # fmt: skip
EVERY = pytest.mark.parametrize("every", [False, pytest.param(True, marks=pytest.mark.deep)], ids=["few", "every"])


def names(site, every):
    return sorted(path.name for path in site.glob("*.html")) if every else [f"{name}.html" for name in FEW]


@pytest.mark.parametrize(("width", "dark"), [(1280, False), (390, True)], ids=["wide", "narrow-dark"])
@EVERY
def test_pages_fit_and_axe_finds_no_violation(browser, site, width, dark, every):
    look(browser, width, 900, dark)
    found = {}
    for name in [*names(site, every), "explorer.html#pane=alibi"]:
        browser.get("about:blank")
        browser.get(site.as_uri() + "/" + name)
        found[name] = faults(browser)
    assert {name: some for name, some in found.items() if some} == {}


@pytest.mark.parametrize("width", one_in(2, WIDTHS))
@EVERY
def test_pages_fit_without_scripts(browser, site, width, every):
    look(browser, width, 900, javascript=False)
    try:
        for name in names(site, every):
            browser.get((site / name).as_uri())
            assert overflow(browser) <= 0 and errors(browser) == [], name
            assert len(browser.find_element("css selector", "main").text) > 200, name
        browser.get((site / "claims.html").as_uri())
        assert not browser.find_element("css selector", ".filters").is_displayed()
    finally:
        look(browser, WIDTHS[0], 900)


def test_tab_walks_through_the_front_page_in_its_order(browser, site):
    from selenium.webdriver.common.keys import Keys

    look(browser, 1280, 900)
    browser.get((site / "index.html").as_uri())
    links = [link.get_attribute("href") for link in browser.find_elements("css selector", "a[href]")]
    walked = []
    for _ in links:
        browser.switch_to.active_element.send_keys(Keys.TAB)
        focused = browser.switch_to.active_element
        walked.append(focused.get_attribute("href"))
        style = "return getComputedStyle(arguments[0]).outlineStyle;"
        assert browser.execute_script(style, focused) != "none", walked[-1]
    assert [link for link in walked if link] == links[: len([link for link in walked if link])]
    assert walked.count(None) <= 2  # tables and listings that scroll


def test_the_explorer_has_the_sites_header_and_its_skip_link_keeps_the_state(browser, site):
    from selenium.webdriver.common.keys import Keys

    look(browser, 1280, 900)
    browser.get((site / "index.html").as_uri())
    links = "return [...document.querySelectorAll('header nav a')].map(link => link.href);"
    wanted = browser.execute_script(links)
    browser.get((site / "explorer.html").as_uri() + "#pane=loss&T=30")
    assert browser.execute_script(links) == wanted
    assert browser.find_element("css selector", "[aria-current=page]").text == "Explorer"
    browser.switch_to.active_element.send_keys(Keys.TAB)
    assert browser.switch_to.active_element.text == "To the text"
    browser.switch_to.active_element.send_keys(Keys.ENTER)
    kept = "setTimeout(() => arguments[0]([explorer.state().T, location.hash]), 400);"
    assert browser.execute_async_script(kept) == [30, "#pane=loss&T=30"]
    browser.switch_to.active_element.send_keys(Keys.TAB)
    assert browser.switch_to.active_element.text == "The loss landscape"


def test_the_address_of_a_group_leads_beyond_the_first_claims(browser, site):
    look(browser, 1280, 900)
    shown = "return document.querySelectorAll('.claims li > a').length;"
    browser.get((site / "claims.html").as_uri())
    assert browser.execute_script(shown) == 50
    browser.get((site / "paper-kv.html").as_uri())
    browser.get((site / "claims.html").as_uri() + "#unsettled")
    assert browser.execute_script("return document.getElementById('unsettled').getBoundingClientRect().top;") < 100


@pytest.mark.deep
@pytest.mark.parametrize("name", ["index.html", "paper-kv.html", "claims.html", "errata.html", "explorer.html"])
def test_a_page_is_usable_within_a_second(browser, site, name):
    look(browser, 1280, 900)
    spent = []
    for _ in range(3):
        browser.get("about:blank")
        browser.get((site / name).as_uri())
        spent.append(browser.execute_script("return performance.getEntriesByType('navigation')[0].loadEventEnd;"))
    assert min(spent) < 1000
