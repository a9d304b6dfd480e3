"""The site, and the explorer, open in a browser, for all tests of a file."""

import pytest

from tests.scripts.site import made
from tests.scripts.site.browser import PAGE, errors, open_browser


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    return made.write(tmp_path_factory.mktemp("site"))


@pytest.fixture(scope="module")
def page():
    with open_browser(1280, 900) as browser:
        browser.get(PAGE.as_uri())
        yield browser
        assert errors(browser) == []
