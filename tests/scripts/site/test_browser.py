"""The site in Chromium: wide and narrow, light and dark, with and without scripts; skipped where it is not."""

from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.scripts.site.browser import errors, look, open_browser
from tests.shares import one_in

WIDTHS = (1280, 390)
CONTRAST = 4.5  # WCAG 2, AA, for text of any size
FAINT = """
  const painted = color => { const c = color.match(/[\\d.]+/g).map(Number); return c.length < 4 ? [...c, 1] : c; };
  const over = (top, under) => [0, 1, 2].map(k => top[k] * top[3] + under[k] * (1 - top[3]));
  const luminance = rgb => rgb.map(v => v / 255).map(v => v <= .04045 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4)
    .reduce((sum, v, k) => sum + v * [.2126, .7152, .0722][k], 0);
  function behind(element) {
    const layers = [];
    for (let e = element; e; e = e.parentElement) layers.push(painted(getComputedStyle(e).backgroundColor));
    const page = matchMedia("(prefers-color-scheme: dark)").matches ? [18, 18, 18] : [255, 255, 255];
    return layers.reverse().reduce((under, top) => over(top, under), page);
  }
  const faint = new Set(), seen = new Set(), walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement;
    if (!walker.currentNode.data.trim() || seen.has(element)) continue;
    seen.add(element);
    if (["SCRIPT", "STYLE", "NOSCRIPT"].includes(element.tagName) || !element.getClientRects().length) continue;
    const under = behind(element), ink = over(painted(getComputedStyle(element).color), under);
    const [light, dark] = [luminance(ink), luminance(under)].sort((p, q) => q - p);
    const ratio = (light + .05) / (dark + .05);
    if (ratio < arguments[0])
      faint.add(`${element.tagName}.${element.className} ${ratio.toFixed(2)} ${element.textContent.slice(0, 30)}`);
  }
  return [...faint];
"""
UNREACHED = """
  const shown = e => e.getClientRects().length > 0, out = [];
  for (const e of document.querySelectorAll("a[href], button, input, select, summary"))
    if (shown(e) && e.tabIndex < 0) out.push(e.outerHTML.slice(0, 80));
  for (const e of document.querySelectorAll("main *"))
    if (shown(e) && e.scrollWidth > e.clientWidth + 1 && ["auto", "scroll"].includes(getComputedStyle(e).overflowX)
        && e.tabIndex < 0 && !e.querySelector("a[href]")) out.push(e.outerHTML.slice(0, 80));
  for (const e of document.querySelectorAll("[tabindex], a[href], button, input, select, canvas"))
    if (shown(e) && !(e.textContent.trim() || e.ariaLabel || e.labels?.length || e.querySelector("img[alt]")))
      out.push("no name: " + e.outerHTML.slice(0, 80));
  return out;
"""


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


def axe():
    """The source of axe-core, which the package only carries: it is run by selenium, and playwright is not needed."""
    found = find_spec("axe_playwright_python")
    assert found is not None, "`make setup` installs axe-playwright-python"
    return Path(found.submodule_search_locations[0], "axe.min.js").read_text("utf-8")


def overflow(page):
    return page.execute_script("return document.documentElement.scrollWidth - document.documentElement.clientWidth;")


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("dark", one_in(2, [False, True]), ids=["light", "dark"])
@EVERY
def test_pages_fit_and_can_be_read_and_reached(browser, site, width, dark, every):
    look(browser, width, 900, dark)
    found = {}
    for name in names(site, every):
        browser.get((site / name).as_uri())
        found[name] = [
            *([f"overflow by {overflow(browser)} px"] if overflow(browser) > 0 else []), *errors(browser),
            *browser.execute_script(FAINT, CONTRAST), *browser.execute_script(UNREACHED),
        ]  # fmt: skip
    assert {name: every for name, every in found.items() if every} == {}


AXE = """const where = rule => rule.nodes.map(node => `${rule.id}: ${node.html.slice(0, 90)}`);
  axe.run({preload: false, resultTypes: ["violations"]})
    .then(found => found.violations.flatMap(where), error => [`${error}`]).then(arguments[0]);
"""


@pytest.mark.parametrize("dark", one_in(2, [False, True]), ids=["light", "dark"])
@EVERY
def test_axe_finds_no_violation(browser, site, dark, every):
    source, found = axe(), {}
    browser.set_script_timeout(120)
    look(browser, 390 if dark else 1280, 900, dark)
    for name in [*names(site, every), "explorer.html#pane=alibi"]:
        browser.get("about:blank")
        browser.get(site.as_uri() + "/" + name)
        browser.execute_script(source)
        found[name] = browser.execute_async_script(AXE)
    assert {name: faults for name, faults in found.items() if faults} == {}


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


def test_claims_are_found_by_words_and_by_every_filter(browser, site):
    look(browser, 1280, 900)
    browser.get((site / "claims.html").as_uri())

    def shown():
        script = "return [...document.querySelectorAll('.claims li > a')].map(e => e.textContent);"
        return browser.execute_script(script)

    def count():
        return int(browser.find_element("id", "shown").text.split()[0])

    def choose(name, value):
        script = """const e = document.querySelector(arguments[0]);
          e.value = arguments[1] ?? e.options[1].value;
          for (const type of ["input", "change"]) e.dispatchEvent(new Event(type));"""
        browser.execute_script(script, name, value)

    every, first = count(), shown()
    assert len(first) == 50 < every
    choose("#words", "kv.thm3.3")
    assert "kv.thm3.3" in shown() and len(shown()) == count() < every / 10
    choose("#words", "")
    choose("[data-key=verdict]", "false")
    false = shown()
    choose("[data-key=paper]", None)
    assert 0 < len(shown()) < len(false) < every
    browser.get((site / "claims.html").as_uri())
    assert shown() == first
    browser.find_element("id", "more").click()
    assert len(shown()) == every
    browser.get((site / "paper-kv.html").as_uri())
    browser.get((site / "claims.html").as_uri() + "#unsettled")  # a group beyond the first rows
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
