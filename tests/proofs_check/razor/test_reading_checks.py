"""Margins on what single heads read: the shipped record holds, and records changed a little either side do not."""

import pytest

from dynamics.comparison.head_reading import read_reading
from proofs_check.razor.measured import reading as c

READING = read_reading()


@pytest.fixture
def changed(monkeypatch):
    """Install the record with the first model changed; head updates are given by (layer, head)."""

    def install(heads=(), **updates):
        first = READING.models[0]
        rows = [h.model_copy(update=dict(heads).get((h.layer, h.head), {})) for h in first.heads]
        first = first.model_copy(update={"heads": tuple(rows), **updates})
        models = (first, *READING.models[1:])
        monkeypatch.setattr(c, "_reading", lambda: READING.model_copy(update={"models": models}))

    return install


def kept(name, **updates):
    return getattr(READING.models[0], name).model_copy(update=updates)


FINDER = READING.models[0].finder.heads[0]
GENTLE = (1, 7)
LOCAL = (1, 0)


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("local_heads", {"heads": {LOCAL: {"local": 0.4}}}),
        ("diffuse_heads", {"heads": {GENTLE: {"local": 0.46}}}),
        ("diffuse_heads", {"heads": {LOCAL: {"local": 0.3}}}),
        ("diffuse_heads", {"heads": {GENTLE: {"whole": 200}, (0, 7): {"whole": 200}}}),
        ("one_finds", {"heads": {LOCAL: {"whole": 90}}}),
        ("one_finds", {"heads": {LOCAL: {"cut": 250}}}),
        ("one_finds", {"heads": {FINDER: {"cut": 90}}}),
        ("one_of_the_protected", {"protected": kept("protected", hits=255)}),
        ("one_of_the_protected", {"heads": {READING.models[0].protected.heads[0]: {"whole": 200}}}),
        ("concentrated", {"heads": {FINDER: {"needle": 0.9}}}),
        ("concentrated", {"heads": {FINDER: {"first": 255}}}),
        ("probability", {"but_finder": kept("but_finder", probability=0.4)}),
        ("probability", {"finder": kept("finder", probability=0.9)}),
        ("others_do_not_find", {"others": kept("others", hits=21)}),
        ("others_do_not_find", {"others": kept("others", bits=2.2166)}),
        ("known_query_serves_one", {"known": kept("known", first=31)}),
        ("known_query_serves_one", {"known": kept("known", later=40)}),
        ("held_elsewhere", {"evicted": kept("evicted", hits_by_finder=45)}),
        ("held_elsewhere", {"evicted": kept("evicted", held=200)}),
        ("scope_rank", {"scoped": READING.models[1].scoped}),
        ("in_steps", {"ranked": READING.models[0].scoped}),
        ("finder_layer", {"finder": kept("finder", heads=((1, 0),))}),
    ],
)
def test_each_margin_holds_as_shipped_and_fails_beyond_its_threshold(changed, name, change):
    margin, more = getattr(c, name), {"local_heads": (0.5, 24), "scope_rank": (17, "7")}.get(name, ())
    assert margin(0, *more).value >= 0
    changed(**change)
    assert margin(0, *more).value < 0


def test_more_heads_that_answer_less_are_no_rise(changed):
    curve = list(READING.models[0].ranked)
    curve[5] = curve[5].model_copy(update={"hits": 255})
    changed(ranked=tuple(curve))
    assert c.in_steps(0).value < 0
