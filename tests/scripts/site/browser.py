"""Debian's chromium under selenium, and the explorer in it; tests skip where either is missing."""

import json
import shutil
from contextlib import contextmanager
from pathlib import Path

import pytest

from scripts.pages import site

PAGE = Path(site.__file__).with_name("explorer.html")
_FLAGS = (
    "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars",
    "--disable-background-networking", "--no-first-run",
)  # fmt: skip


@contextmanager
def open_browser(width, height, dark=False, javascript=True):
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
        look(page, width, height, dark, javascript)
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
