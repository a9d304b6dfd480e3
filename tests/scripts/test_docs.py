"""Generated pages are up to date, and staleness is noticed."""

from proofs_check.registry import load
from scripts import docs


def test_no_generated_page_is_stale():
    registry = load()
    stale = [path.name for path, text in docs.pages(registry).items() if path.read_text("utf-8") != text]
    assert stale == [], "run `make docs`"


def test_a_changed_claim_makes_its_pages_stale():
    registry = load()
    name, claim = next(iter(registry.items()))
    from dataclasses import replace

    changed = registry | {name: replace(claim, statement="something else")}
    assert docs.claim_table(changed) != docs.claim_table(registry)
    assert docs.errata(changed) != docs.errata(registry)


def test_pages_hold_no_absolute_path():
    for text in docs.pages(load()).values():
        assert str(docs.ROOT) not in text
