"""Margins on what single heads of the comparison's models read; the numbers were read off the results."""

from __future__ import annotations

import itertools
from fractions import Fraction
from functools import cache
from typing import Any

from proofs_check.evidence.margin import Margin, at_most, less, same, worst

SEEDS = tuple({"seed": seed} for seed in range(3))


@cache
def _reading() -> Any:
    from dynamics.comparison.head_reading import read_reading

    return read_reading()


def _model(seed: int) -> Any:
    return next(model for model in _reading().models if model.seed == seed)


def _share(hits: int) -> Fraction:
    return Fraction(hits, _reading().questions)


def _head(model: Any, at: tuple[int, int]) -> Any:
    return next(head for head in model.heads if (head.layer, head.head) == tuple(at))


def _finder(model: Any) -> Any:
    return _head(model, model.finder.heads[0])


def _protected(model: Any) -> list[Any]:
    return [_head(model, at) for at in model.protected.heads]


def local_heads(seed: int, share: float, number: int) -> Margin:
    """So many heads give at least this share of their weight to the sinks and the window."""
    return same(sum(head.local >= share for head in _model(seed).heads), number)


def diffuse_heads(seed: int, most: float = 0.45, unprotected: int = 4) -> Margin:
    """The heads of the two gentlest slopes of each layer give less than `most` to sinks and window, all others more; at
    least `unprotected` of them are outside the protected set, and one at most answers a third of the questions."""
    model = _model(seed)
    gentle = sorted({head.slope for head in model.heads})[:2]
    diffuse = [head for head in model.heads if head.slope in gentle]
    others = [head for head in model.heads if head.slope not in gentle]
    protected = set(model.protected.heads)
    outside = sum((head.layer, head.head) not in protected for head in diffuse)
    return worst(
        [
            less(max(head.local for head in diffuse), most),
            less(most, min(head.local for head in others)),
            at_most(unprotected, outside),
            at_most(sum(_share(head.whole) > Fraction(1, 3) for head in diffuse), 1),
        ]
    )


def one_finds(seed: int, alone: Fraction = Fraction(99, 100), rest: Fraction = Fraction(1, 3)) -> Margin:
    """One head whole alone answers `alone` of the questions or more, every other at most `rest`; cut alone it leaves at
    most `rest`, and every other cut alone `alone` or more."""
    model = _model(seed)
    finder = _finder(model)
    others = [head for head in model.heads if head is not finder]
    return worst(
        [
            at_most(alone, _share(finder.whole)),
            at_most(_share(max(head.whole for head in others)), rest),
            at_most(_share(finder.cut), rest),
            at_most(alone, _share(min(head.cut for head in others))),
        ]
    )


def one_of_the_protected(seed: int, capable: int = 1) -> Margin:
    """The protected heads together answer all, and so many of them more than half when whole alone."""
    model = _model(seed)
    found = sum(_share(head.whole) > Fraction(1, 2) for head in _protected(model))
    return worst([same(_share(model.protected.hits), Fraction(1)), same(found, capable)])


def concentrated(seed: int, least: float = 0.97, others: int = 1) -> Margin:
    """The finder head gives the asked value at least the weight `least` on average, and its largest weight at every
    question. At most `others` of the other protected heads give it more than half of their weight."""
    model = _model(seed)
    finder = _finder(model)
    half = sum(head.needle > 0.5 for head in _protected(model) if head is not finder)
    return worst([at_most(least, finder.needle), same(finder.first, _reading().questions), at_most(half, others)])


def probability(seed: int, cut: str = "but_finder", kept: str = "finder") -> Margin:
    """Mean probability of the answers: at least .99 in full and with all but the finder cut, at most .3 without it."""
    model = _model(seed)
    values = model.full.probability, getattr(model, kept).probability, getattr(model, cut).probability
    return worst([at_most(0.99, values[0]), at_most(0.99, values[1]), at_most(values[2], 0.3)])


def others_do_not_find(seed: int, group: str = "others", extra: tuple[float, float] = (0.01, 0.04)) -> Margin:
    """With the protected heads cut and the others whole at most 8 % are answered, and the text takes between the two
    `extra` more bits a byte than in full; the protected whole and the others cut all are answered."""
    model = _model(seed)
    found = getattr(model, group)
    more = found.bits - model.full.bits
    return worst(
        [
            at_most(_share(found.hits), Fraction(8, 100)),
            at_most(extra[0], more),
            at_most(more, extra[1]),
            same(_share(model.protected.hits), Fraction(1)),
        ]
    )


def finder_layer(seed: int, layer: int = 0) -> Margin:
    return same(_finder(_model(seed)).layer, layer)


def scope_rank(seed: int, rank: int, share: str, largest: int = 6) -> Margin:
    """The finder's rank by printed scope, and what the six heads of the largest answer, in whole per cent."""
    model = _model(seed)
    order = next(kept for kept in model.scoped if len(kept.heads) == len(model.heads)).heads
    kept = next(kept for kept in model.scoped if len(kept.heads) == largest)
    found = list(order).index(model.finder.heads[0]) + 1, str(round(100 * _share(kept.hits)))
    return same(found, (rank, share))


def known_query_serves_one(seed: int, later: Fraction = Fraction(1, 10), first: str = "first") -> Margin:
    """SnapKV: all first questions are answered, at most `later` of the later ones, and of the first where the prompt
    ends before it."""
    known = _model(seed).known
    rows = _reading().settings.needle_rows
    return worst(
        [
            same(getattr(known, first), rows),
            at_most(Fraction(known.later, _reading().questions - rows), later),
            at_most(Fraction(known.unasked, rows), later),
        ]
    )


def held_elsewhere(seed: int, held: int = 220, by_finder: int = 60, answered: int = 75) -> Margin:
    """Heavy hitters: 95 % of the tokens are in some head at the end, so many values in some head when asked for, so few
    in the finder, all of which are answered, and so few in all."""
    evicted = _model(seed).evicted
    return worst(
        [
            at_most(0.95, evicted.kept),
            at_most(held, evicted.held),
            at_most(evicted.held_by_finder, by_finder),
            same(evicted.hits_by_finder, evicted.held_by_finder),
            at_most(evicted.hits, answered),
        ]
    )


def in_steps(seed: int, order: str = "ranked", least: Fraction = Fraction(99, 100)) -> Margin:
    """With more heads whole no fewer questions are answered; up to the finder at most a third, from it on `least`."""
    model = _model(seed)
    curve = getattr(model, order)
    hits = [kept.hits for kept in curve]
    at = next(i for i, kept in enumerate(curve) if model.finder.heads[0] in kept.heads)
    rises = at_most(0, min(after - before for before, after in itertools.pairwise(hits)))
    entered = same(len(curve[at].heads) - len(curve[at - 1].heads), 1)
    return worst([rises, entered, at_most(_share(hits[at - 1]), Fraction(1, 3)), at_most(least, _share(hits[at]))])
