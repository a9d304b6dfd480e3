"""The atlas: every arrow of its page is a claim that the core proves, and together they decide all pairs as it says."""

from itertools import permutations, product
from pathlib import Path
from typing import NamedTuple

import pytest

from proofs_check.ledger import registry, store
from proofs_check.waiver.formal import atlas

CLAIMS = registry.load(("waiver",))
STORED = store.entries(registry.installed()["waiver"].certificates)
PAGE = (Path(__file__).resolve().parents[2] / "docs" / "atlas.md").read_text("utf-8")
EQUAL, CONTAINS, SEPARATED = "equal", "contains", "separated"


class Arrow(NamedTuple):
    """`way` contains `other`, or does not (separated), or their outputs are one under a condition (equal)."""

    way: str
    kind: str
    other: str
    where: str = ""
    claim: str = ""


def table(head):
    """The rows of the table of the page that begins with these cells."""
    lines = PAGE.split(f"\n{head}")[1].split("\n\n")[0].splitlines()[2:]
    return [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines]


WAYS = [row[0] for row in table("| way | output |")]
ARROWS = [Arrow(*row[:4], row[-1].strip("`")) for row in table("| way | arrow |")]


def decided(arrows=ARROWS):
    """For two ways whether the first contains the second, where that follows from the arrows. `equal` decides nothing.

    Containing is transitive; and if a does not contain b, nothing that a contains contains what contains b.
    """
    has = {(way, way) for way in WAYS} | {(a.way, a.other) for a in arrows if a.kind == CONTAINS}
    for middle in WAYS:
        has |= {pair for pair in product(WAYS, WAYS) if {(pair[0], middle), (middle, pair[1])} <= has}
    apart = [(a.way, a.other) for a in arrows if a.kind == SEPARATED]
    lacks = {(x, y) for (way, other), x, y in product(apart, WAYS, WAYS) if {(way, x), (y, other)} <= has}
    assert not has & lacks, f"the arrows contradict each other: {sorted(has & lacks)}"
    return {pair: pair in has for pair in permutations(WAYS, 2) if pair in has | lacks}


@pytest.mark.parametrize("claim", sorted({arrow.claim for arrow in ARROWS}))
def test_every_arrow_is_proved(claim):
    formal = CLAIMS[claim].formal
    entry = STORED[formal.digest]
    assert store.judge(formal.to_json(), entry, mutants=False)["outcome"] == "proved"


def test_no_statement_of_the_atlas_is_without_an_arrow():
    assert {name for name in CLAIMS if name.startswith("waiver.atlas.")} == set(atlas.FORMAL)
    assert set(atlas.FORMAL) <= {arrow.claim for arrow in ARROWS}


def test_arrows_are_many_of_all_kinds_and_between_all_ways():
    assert len(ARROWS) == len({arrow[:3] for arrow in ARROWS}) >= 12
    assert {arrow.kind for arrow in ARROWS} == {EQUAL, CONTAINS, SEPARATED}
    assert {arrow.way for arrow in ARROWS} == {*WAYS} and {arrow.other for arrow in ARROWS} == {*WAYS}
    assert all(arrow.where for arrow in ARROWS if arrow.kind != CONTAINS)
    own = [arrow for arrow in ARROWS if arrow.claim.startswith("waiver.atlas.")]
    assert all(arrow.claim.split(".")[3] == arrow.kind for arrow in own)


def test_they_decide_every_pair():
    found = decided()
    assert set(found) == set(permutations(WAYS, 2))
    assert {pair for pair, contains in found.items() if contains} == {
        ("sink", "plus_one"), ("sink", "sink_logit"), ("sink", "drain"), ("sink", "waiver"),
        ("drain", "plus_one"), ("drain", "sink_logit"), ("sink_logit", "plus_one"),
    }  # fmt: skip
    # `equal` holds under a condition, and is not needed
    assert decided([arrow for arrow in ARROWS if arrow.kind != EQUAL]) == found


@pytest.mark.parametrize("missing", [("plus_one", "sink_logit"), ("sink", "gate"), ("sink", "waiver")])
def test_a_pair_stays_open_without_its_arrow(missing):
    fewer = decided([arrow for arrow in ARROWS if (arrow.way, arrow.other) != missing])
    assert missing not in fewer and len(fewer) < 30


def test_a_planted_contradiction_is_noticed():
    with pytest.raises(AssertionError, match=r"contradict each other: .*'plus_one', 'drain'"):
        decided([*ARROWS, Arrow("plus_one", CONTAINS, "sink")])


def test_the_page_gives_every_answer():
    answers = {True: "yes", False: "no"}
    expected = [[way, *(answers.get(decided().get((way, other)), "") for other in WAYS)] for way in WAYS]
    assert table(f"| row contains | {' | '.join(WAYS)} |") == expected
