"""pytest --conform ADAPTER: every check that an adapter claims is a test of its own; docs/conform.md says more.

Where the workbench is installed, pytest imports this module in each of its runs: the suite is imported on demand alone.
"""

from functools import cache, partial

import pytest


def pytest_addoption(parser):
    told = "a test for each check that this adapter claims, a file (..py) or a module; may be repeated"
    parser.addoption("--conform", action="append", default=[], metavar="ADAPTER", help=told)
    parser.addoption("--conform-seed", type=int, default=0, metavar="N", help="of --conform's inputs (default 0)")


def pytest_configure(config):
    if config.option.conform_seed < 0:
        raise pytest.UsageError(f"--conform-seed: expected a whole number >= 0, got {config.option.conform_seed}")
    if config.option.conform and config.args_source is not config.ArgsSource.ARGS:
        config.args = []  # the adapters alone, and no tests that nobody has asked for


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(collector):
    report = yield
    if isinstance(collector, pytest.Session):
        report.result += [Adapted.from_parent(collector, name=at, nodeid=at) for at in collector.config.option.conform]
    return report


class Adapted(pytest.Collector):
    """An adapter; its name is the place where it is."""

    def collect(self):
        from proofs_check.conform import claimed, load, run

        try:
            adapter, seed = load(self.name), self.config.option.conform_seed
            self.results = {check.name: cache(partial(run, adapter, check, seed)) for check in claimed(adapter)}
            if not self.results:
                raise ValueError(f"{self.name} claims nothing")
        except ValueError as error:
            raise self.CollectError(error) from None
        return [Claim.from_parent(self, name=name) for name in self.results]


class Claim(pytest.Item):
    """A check of what an adapter claims. It fails where the adapter deviates, and is skipped where that refuses. If no
    check of the adapter passes, what is refused fails as well: nothing was seen to be right."""

    def runtest(self):
        results = self.parent.results
        result = results[self.name]()
        if result.outcome.value != "passed":
            told = f"{self.name} {result.outcome.value}: {result.told}"
            if not result.deviates and any(one().outcome.value == "passed" for one in results.values()):
                pytest.skip(told)
            pytest.fail(told, pytrace=False)

    def reportinfo(self):
        return self.path, None, f"{self.parent.name}: {self.name}"
