"""The atlas: every arrow is a claim that the core proves, they decide all pairs, and the page says the same."""

from itertools import permutations
from pathlib import Path

import pytest

from proofs_check.ledger import registry, store
from proofs_check.waiver.elements.arrows import ARROWS, CONTAINS, EQUAL, SEPARATED, WAYS, Arrow, decided
from proofs_check.waiver.formal import atlas

CLAIMS = registry.load(("waiver",))
STORED = store.entries(registry.installed()["waiver"].certificates)
PAGE = (Path(__file__).resolve().parents[2] / "docs" / "atlas.md").read_text("utf-8")


def table(head):
    """The rows of the table of the page that begins with these cells."""
    lines = PAGE.split(f"\n{head}")[1].split("\n\n")[0].splitlines()[2:]
    return [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines]


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
    with pytest.raises(ValueError, match=r"contradict each other: .*'plus_one', 'drain'"):
        decided([*ARROWS, Arrow("plus_one", CONTAINS, "sink", "")])


def test_the_page_names_every_arrow_and_every_answer():
    told = [(way, kind, other, claim.strip("`"), where) for way, kind, other, where, _, claim in
            table("| way | arrow |")]  # fmt: skip
    assert told == [tuple(arrow) for arrow in ARROWS]
    assert [(row[0], row[-1]) for row in table("| way | output |")] == list(WAYS.items())
    answers = {True: "yes", False: "no"}
    expected = [[way, *(answers.get(decided().get((way, other)), "") for other in WAYS)] for way in WAYS]
    assert table(f"| | {' | '.join(WAYS)} |") == expected
