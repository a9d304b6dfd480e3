"""A comparison of cache policies as tables, sentences and JSON."""

from __future__ import annotations

import json
from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dynamics.comparison.equal_memory import Row, Shape, positions
from dynamics.comparison.on_text import Scored, first_scored
from dynamics.comparison.plan import FULL
from dynamics.comparison.verdict import FEWEST, Choice, Line, choose, line, texts_of
from dynamics.razor.plan import RazorPlan
from dynamics.razor.plan_file import plan_text
from dynamics.statistics.estimate import Estimate

from .cli import aligned, json_text, page, versions, wrapped
from .scope_report import POSITIONS
from .sinks_report import kind

if TYPE_CHECKING:
    from torch import nn

    from dynamics.sinks.texts import Text
    from dynamics.sinks.windows import Cut

BINS, NAME = 4, 16
TABLE = ("policy", "bytes", "of full", "nats", "over the full cache", "KL", "same top")
OTHER = ("policy", "tokens a head", "worst text", "nats", "over tokens")
LEGEND = (
    "Bytes are those of all key-value heads at the end of a window, compensation tokens in double precision and the "
    "sums of heavy hitters among them.",
    "Nats a token are means over {texts} texts, with Student's 95 % intervals of paired differences; the column \"over "
    "tokens\" is the difference with all tokens alike.",
    "KL is from the full cache's next token to the policy's; same top: how often both find the same token most likely.",
    "Random rows are means over {seeds} draws. The last columns are the loss over the full cache's, by position.",
    "The windows are given, whatever the model would write. Nothing is said of other texts, models and lengths.",
)


class Result(NamedTuple):
    """One budget, a share of the full cache of `bytes`: its rows, their scores and lines by policy, and what is chosen.

    first: the first query that is scored. texts: their names; text (windows,): that of each window.
    """

    share: Fraction
    bytes: int
    length: int
    first: int
    rows: Sequence[Row]
    texts: list[str]
    text: NDArray[np.int64]
    lines: dict[str, Line]
    choice: Choice | None
    scores: dict[str, Scored]


def result(
    share: Fraction, rows: Sequence[Row], scores: dict[str, Scored], most: int, cut: Cut, text: Text
) -> Result:
    """The result of one budget; most: bytes of the full cache."""
    length, texts, pieces = cut.rows.shape[1], texts_of(cut.piece), np.unique(cut.piece)
    windows = [f"window {number + 1}" for number in texts]
    names = windows if len(pieces) < FEWEST else [text.names[piece] for piece in pieces]
    lines = {policy: line(row, scores[FULL], texts) for policy, row in scores.items()}
    first = first_scored(rows, length)
    return Result(share, most, length, first, rows, names, texts, lines, choose(scores, texts), scores)


def described(model: nn.Module, shape: Shape) -> str:
    """The model in a line."""
    dtype = str(next(model.parameters()).dtype).removeprefix("torch.")
    place = positions(model)
    heads = f"{shape.n_layers} layers of {shape.n_heads} heads on {shape.n_kv_heads} key-value heads"
    return f"{kind(model)}, {heads}, positions {POSITIONS.get(place, place)}, {dtype}"


def lines(results: Sequence[Result], margin: float, seeds: int) -> list[str]:
    """What is printed."""
    legend = [text.format(texts=len(results[0].texts), seeds=seeds) for text in LEGEND]
    return [*map(wrapped, legend), *(text for one in results for text in _budget(one, margin))]


def _budget(found: Result, margin: float) -> list[str]:
    """A budget: what it is, its tables, the rows that were not run, and what is chosen."""
    running = [row for row in found.rows if row.plans]
    head = f"budget {found.share} of {found.bytes:,} bytes a window"
    if running:
        earliest = min(row.first for row in running) + 1
        head += f"; the first policy evicts at token {earliest} of {found.length}, the last at {found.first + 1}"
        head += "; scored are the tokens after that, the same for all rows"
    bins = np.array_split(np.arange(found.length - 1 - found.first), BINS)
    spans = [f"{found.first + 2 + part[0]}-{found.first + 2 + part[-1]}" for part in bins if len(part)]
    table = [TABLE, (FULL, f"{found.bytes:,}", "100.0%", f"{found.lines[FULL].loss.value:.4f}", "-", "-", "-")]
    other = [(*OTHER, *spans)]
    for row in running:
        one, whole = found.lines[row.policy], sum(map(len, row.plans[0].full))
        size = (f"{row.held:,}", f"{row.held / found.bytes:.1%}", f"{one.loss.value:.4f}")
        table.append((row.policy, *size, _interval(one.extra), _interval(one.divergence), f"{one.same:.1%}"))
        kept = f"{row.plans[0].n_kept(found.length)}{f', {whole} whole' if whole else ''}"
        numbers = (one.worst[1], one.over_tokens, *(one.places[part].mean() for part in bins if len(part)))
        other.append((row.policy, kept, found.texts[one.worst[0]][-NAME:], *(f"{x:+.4f}" for x in numbers)))
    reasons = dict.fromkeys(row.why for row in found.rows if row.why)
    not_run = [f"{_listed(row.policy for row in found.rows if row.why == why)}: {why}" for why in reasons]
    tables = page([*aligned(table), "", *aligned(other)])
    return ["", wrapped(head), tables, "", *map(wrapped, (*not_run, *_said(found, margin)))]


def _interval(value: Estimate) -> str:
    return f"{value.value:+.4f} [{value.low:+.4f}, {value.high:+.4f}]"


def _said(found: Result, margin: float) -> list[str]:
    """The choice, in sentences."""
    choice, texts = found.choice, len(found.texts)
    if choice is None:
        return [f"no policy is chosen: {FEWEST} texts are needed, so that one half can choose and the other report"]
    within = _listed(policy for policy, behind in choice.behind.items() if behind.high <= margin)
    apart = _listed(policy for policy, behind in choice.behind.items() if behind.low <= margin < behind.high)
    loss = f"its loss is {_interval(choice.over_full[choice.best])} nats a token over the full cache's"
    text = f"chosen on {texts - texts // 2} texts: {choice.best}; on the other {texts // 2} {loss}"
    text += f"; shown to lose at most {margin:g} more than it: {within}; the interval leaves this open for: {apart}"
    if choice.random:
        worse = _listed(policy for policy, gain in choice.random.items() if not gain.low > 0)
        text += f"; not shown to be better than random eviction: {worse}"
    better = [policy for policy, extra in choice.over_full.items() if extra.high < 0]
    return [text, *([f"better than the full cache on this text: {_listed(better)}"] if better else [])]


def _listed(policies) -> str:
    return " / ".join(policies) or "none"


def document(settings: dict[str, Any], facts: list[str], results: Sequence[Result]) -> str:
    """JSON with all numbers, of each row its scores in every draw and window, and by token; null: no such number."""
    content = {
        "format": "policy-comparison",
        "versions": versions(),
        "settings": settings,
        "told": facts,
        "scores": ["loss", "KL", "same"],
        "budgets": results,
    }
    return json_text(content, default=_plain)


def _plain(value: Any) -> Any:
    return json.loads(plan_text(value)) if isinstance(value, RazorPlan) else str(value)
