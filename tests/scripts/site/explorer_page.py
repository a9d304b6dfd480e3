"""The explorer in a browser, and how to ask it for what it has computed."""

import json
from pathlib import Path

from scripts.pages import site
from tests.scripts.site.browser import look

PAGE = Path(site.__file__).with_name("explorer.html")


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
