"""Debian's chromium under selenium, and the explorer in it; tests skip where either is missing."""

import json
import shutil
from contextlib import contextmanager
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import pytest

from scripts.pages import site

PAGE = Path(site.__file__).with_name("explorer.html")
_FLAGS = (
    "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars",
    "--disable-background-networking", "--no-first-run",
)  # fmt: skip


@contextmanager
def open_browser(width, height):
    """A browser with a viewport of this size, its console kept for `errors`.

    Skips the test where selenium, /usr/bin/chromium or its driver is missing.
    """
    pytest.importorskip("selenium", reason="needs selenium")
    browser, driver = shutil.which("chromium"), shutil.which("chromedriver")
    if browser is None or driver is None:
        pytest.skip("needs chromium and chromedriver")
    from selenium import webdriver

    options = webdriver.ChromeOptions()
    options.binary_location = browser
    for flag in _FLAGS:
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    # the path of the driver, so that nothing is looked for on a network
    page = webdriver.Chrome(options=options, service=webdriver.ChromeService(driver))
    try:
        look(page, width, height)
        yield page
    finally:
        page.quit()


def look(page, width, height, dark=False, javascript=True):
    """Another viewport, colour scheme, or no scripts, from the next load on at the latest."""
    metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
    page.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
    page.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [scheme]})
    page.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": not javascript})


def errors(page):
    """What the console has complained of since the last call."""
    return [entry["message"] for entry in page.get_log("browser") if entry["level"] in ("SEVERE", "WARNING")]


def overflow(page):
    """By how many pixels the page is wider than the window."""
    return page.execute_script("return document.documentElement.scrollWidth - document.documentElement.clientWidth;")


AXE = """const where = rule => rule.nodes.map(node => `${rule.id}: ${node.html.slice(0, 90)}`);
  const reached = [...document.querySelectorAll("a[href], button, input, select, summary")];
  const past = reached.filter(e => e.tabIndex < 0 && e.getClientRects().length).map(e => "no tab: " + e.outerHTML);
  axe.run({preload: false, resultTypes: ["violations"]})
    .then(found => [...past, ...found.violations.flatMap(where)], error => [`${error}`]).then(arguments[0]);
"""


@cache
def axe():
    """The source of axe-core, which the package only carries: it is run by selenium, and playwright is not needed."""
    found = find_spec("axe_playwright_python")
    assert found is not None, "`make setup` installs axe-playwright-python"
    return Path(found.submodule_search_locations[0], "axe.min.js").read_text("utf-8")


def faults(page):
    """What a reader would stumble over: text beside the window, complaints of the console, violations of axe."""
    page.set_script_timeout(120)
    wide = [f"wider than the window by {overflow(page)} px"] if overflow(page) > 0 else []
    page.execute_script(axe())
    return [*wide, *errors(page), *page.execute_async_script(AXE)]


def ask(page, script):
    """What the script says, which must be JSON; infinities come as null."""
    return json.loads(
        page.execute_script(f"const x = window.explorer; return JSON.stringify((() => {{ {script} }})());")
    )


def ask_all(page, expression, cases):
    """The expression in s of each case."""
    return ask(page, f"return JSON.parse({json.dumps(json.dumps(cases))}).map(s => {expression});")


def settle(page):
    """Two frames later, when all has been drawn."""
    page.execute_async_script(
        "const done = arguments[0]; requestAnimationFrame(() => requestAnimationFrame(() => done()));"
    )


def opened(page, fragment, width=1280, dark=False, javascript=True):
    look(page, width, 900, dark, javascript)
    page.get("about:blank")
    page.get(PAGE.as_uri() + fragment)
    if javascript:
        settle(page)
