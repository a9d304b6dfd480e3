"""The explorer, open in a browser for all tests of a file."""

import pytest

from tests.scripts.site.browser import PAGE, errors, open_browser


@pytest.fixture(scope="module")
def page():
    with open_browser(1280, 900) as browser:
        browser.get(PAGE.as_uri())
        yield browser
        assert errors(browser) == []
