"""What is found of a model's heads as text and as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dynamics.heads.kinds import SIZE

from .cli import aligned, json_text, versions, wrapped

if TYPE_CHECKING:
    from dynamics.heads.cause import Cause
    from dynamics.heads.found import Found

COLUMNS = ("kind", "head", "score", "even", "twin", "shuffled", "seeds", "", "")
LEGEND = (
    "score: mean attention to the right key (retrieval: share of the rows in which it is the largest)",
    "even: of even attention; twin: without the earlier copy; shuffled: of the same head with shuffled weights",
    "seeds: in how many the head is chosen: {size} above all three, and further above even and shuffled than any head "
    "of a shuffled model ({null})",
    "* from .3, ** from .4: where others call a head so, without a baseline",
    "key 0 takes most attention from {sink}",
)


def text(found: Found) -> str:
    """The answer, then whether the model copies, then a line a head that is chosen and for the best of each kind."""
    sets = {cause: [kind for kind, one in found.causes.items() if one == cause] for cause in found.causes.values()}
    causes = [_cause(f"{' and '.join(kinds)} heads", cause) for cause, kinds in sets.items()]
    if found.carriers is not None:
        causes.append(_cause(f"heads that copy ({len(found.carriers.heads)})", found.carriers))
    return "\n".join([wrapped(found.why), _kept(found), "", *_gates(found), "", *_table(found), *map(wrapped, causes)])


def _kept(found: Found) -> str:
    """What a cache plan should keep."""
    names = ", ".join(f"{layer}.{head}" for layer, head in found.whole)
    return wrapped(f"a cache plan should keep {f'these key-value heads whole: {names}' if names else 'no head whole'}")


def _gates(found: Found) -> list[str]:
    """A line a length: the losses of both copies."""
    if not found.gates:
        return ["does the model copy: not known, it gives no logits"]
    rows = [("tokens", "1st copy", "2nd copy", "its twin", "1st - 2nd", "twin - 2nd", "copies", "drawn")]
    for one in found.gates:
        losses = (f"{loss:.3f}" for loss in (one.first, one.second, one.twin))
        gains = (f"{gain.value:.3f} [{gain.low:.3f}, {gain.high:.3f}]" for gain in (one.gain, one.over_twin))
        drawn = "distinct" if one.distinct else f"with repeats, last {one.order}"
        rows.append((str(one.length), *losses, *gains, "yes" if one.copies else "no", drawn))
    return ["does the model copy: nats a token, with 95 % intervals over prompts", *aligned(rows)]


def _table(found: Found) -> list[str]:
    """The chosen heads and the best of each kind, and what the columns are."""
    rows = [COLUMNS]
    for kind, score in found.scores.items():
        best = np.unravel_index(np.argmax(score.mean), score.mean.shape)
        heads = {*map(tuple, np.argwhere(score.chosen)), best}
        for at in sorted(heads, key=lambda at: -score.mean[at]):
            numbers = (score.mean[at], score.even, score.twin[at], score.shuffled[at])
            cells = ("-" if number != number else f"{number:.3f}" for number in numbers)
            mark = "*" * (int(numbers[0] >= 0.3) + int(numbers[0] >= 0.4))
            cause = found.causes.get(kind, "")
            verdict = "not tested" if cause is None else cause and ("needed" if cause.needed else "not needed")
            passed = f"{score.passed[at]}/{len(score.seeds)}"
            rows.append((kind, f"{at[0]}.{at[1]}", *cells, passed, mark, verdict if score.chosen[at] else ""))
    nulls = ", ".join(f"{kind} {score.null:.2g}" for kind, score in found.scores.items())
    sink = np.unravel_index(np.argmax(found.sink), found.sink.shape)
    most = f"{sink[0]}.{sink[1]}: {found.sink.max():.2g}, on the mean of all heads {found.sink.mean():.2g}"
    drawn = f"scores at {found.length} tokens, drawn {'without' if found.distinct else 'with'} replacement"
    if found.order > 1:
        drawn += f"; of rows whose last {found.order} tokens occur once before"
    told = (wrapped(line.format(size=SIZE, null=nulls, sink=most)) for line in LEGEND)
    return [drawn, *aligned(rows), *told]


def _cause(name: str, cause: Cause | None) -> str:
    """What the model loses without a set of heads, beside random sets."""
    if cause is None:
        return f"{name}: cause not tested, the outputs of single heads cannot be taken out of this model"
    if not np.isfinite(cause.hurt.value):
        return f"{name}: attend, not needed, since the model does not copy here"
    hurt = f"{cause.hurt.value:.3f} [{cause.hurt.low:.3f}, {cause.hurt.high:.3f}]"
    verdict = "needed" if cause.needed else "attend, not needed"
    beside = f"without other heads, as many {'in each layer' if cause.same_shape else 'in all (a layer has too few)'}: "
    beside += f"{max(cause.others):.3f} at most, {len(cause.others)} sets" if cause.others else "none are left"
    return f"{name}: {verdict}; without them the 2nd copy loses {hurt} nats more than the 1st; {beside}"


def document(found: Found, asked: dict[str, object]) -> str:
    """JSON: what was asked, all numbers, rows of the arrays are layers; null: there is no such number.

    `dynamics.heads.kinds.Source(model, first, excluded, (), seed).prompts(8, length, 3, n)` are the prompts of seed n.
    """
    content = found._asdict() | {"looks": list(found.looks.items())}
    named = {"answer": found.why, "whole": found.whole, "whole_heads": found.whole_heads}
    return json_text({**asked, "versions": versions(), **named, "found": content})
