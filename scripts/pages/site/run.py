"""What a run did, as one page: failures, pictures, findings, a line a paper, what changed, all rows to search."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from proofs_check.ledger.row import Row

from ...commands.construct import TITLES
from .. import coverage_page, docket
from .findings import FINDINGS, VERDICTS, Finding
from .pages import HERE, environment
from .rows import filters
from .view import views

CAPTIONS = {
    "fig_landscape": (
        "Figure 2 of KV shifting: where gradient descent goes, and the contours of the loss.",
        "The slice is alpha2 = 1 - alpha1, beta2 = 1 - beta1. Top: the exact loss. Middle: Eq. 10 as printed. Bottom: "
        "what the printed listing draws once it runs. The induction head sits at (0, 1).",
    ),
    "fig_training": (
        "The heads of the trained model on the landscape of Theorem 3.4, from the start to the end of the training.",
        "(a) The colour is the theorem's loss of one head, in nats, on rows of T tokens. Across: how strongly the head "
        "attends to the token after the earlier copy of the last one (key gain times alpha2). Up: how much it raises "
        "the token that it attends to (value gain times beta1). The theorem sets both gains to 1; a trained head "
        "brings its own, and leaves the unit box. Each line is a head. A mark has the colour of this head's own loss, "
        "at all four of its coordinates. Where it differs from the colour beneath it, the head is off the plane "
        "alpha1 = beta2 = 0, and the map is not its loss; far off the plane the marks are hollow. (b) The measured "
        "loss over the vocabulary and among the tokens of the row, and what the theorem predicts from the coordinates "
        "of all heads, or of the best one. (c) What the measured loss at the end has over the predicted one. Other "
        "tokens: all of the vocabulary competes, not only the row. MLP: the layer behind the heads. Final norm: the "
        "state is divided by its size. Own embedding: the last token's own embedding votes too. Token table: the "
        "products of the tokens' embeddings through a head are not those of an identity, which the theorem takes them "
        "for.",
    ),
}
FAILED = ("contradicted", "error", "undecided")
FEW = 20  # changed claims that are named


def page(run: Mapping[str, Any], before: Sequence[Mapping] | None, pictures: Mapping[str, str],
         models: Sequence[Mapping[str, Any]], built: Mapping[str, Any] | None) -> str:  # fmt: skip
    """The page as one string. run: the JSON of verify, its claims as rows; before: the claims of an earlier one, not
    read as rows; pictures: URLs by name."""
    rows = run["claims"]
    groups = views(rows, {}, paged=False)
    every = [view for _, members in groups for view in members]
    return environment(set()).get_template("report.html.j2").render(
        title="This run", alone=True, style=(HERE / "style.css").read_text("utf-8"), summary=run["summary"],
        script=(HERE / "claims.js").read_text("utf-8"), groups=groups, filters=filters(every),
        failed=[view for status in FAILED for view in every if view.row.status == status],
        titles=docket.titles(rows), shares=coverage_page.shares(rows), heading=coverage_page.HEADING,
        findings=told(rows), by_id={row.id: row for row in rows}, pictures=pictures, captions=CAPTIONS, models=models,
        built=built, theorems=TITLES, few=FEW, changes=None if before is None else changes(before, map(vars, rows)),
    )  # fmt: skip


def told(rows: Iterable[Row]) -> list[Finding]:
    """The findings whose claims this run has all confirmed."""
    confirmed = {row.id for row in rows if row.status == "confirmed" and row.verdict in VERDICTS}
    return [finding for finding in FINDINGS if confirmed.issuperset(finding.claims)]


def changes(before: Iterable[Mapping], now: Iterable[Mapping]) -> list[tuple[str, str]]:
    """Each claim that is new, gone, or has another ruling or status than before, with what changed."""
    old, new = ({row["id"]: _state(row) for row in rows} for rows in (before, now))
    both = ((name, f"{old[name]}; now {new[name]}") for name in new if name in old and old[name] != new[name])
    added = ((name, f"new: {state}") for name, state in new.items() if name not in old)
    return [*both, *added, *((name, f"gone; it was {state}") for name, state in old.items() if name not in new)]


def _state(row: Mapping) -> str:
    return ", ".join(filter(None, map(row.get, ("verdict", "severity", "strength", "status"))))
