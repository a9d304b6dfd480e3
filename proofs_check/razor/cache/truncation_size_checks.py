"""Cache sizes in whole tokens, counted head by head."""

from collections.abc import Callable
from fractions import Fraction

from proofs_check.evidence.margin import Margin, at_most, different, same, worst
from theory.cache.size import kept_share

SEVENTY = Fraction(7, 10)


def counted(length: int, full: int = 15, heads: int = 100, least: int = 4000, part: int = 5, extra: int = 0):
    """Share kept by `heads` heads, `full` of them whole, the others with max(least, N / part) tokens: counted."""
    short = min(Fraction(length), max(Fraction(least), Fraction(length, part)) + extra)
    return sum([Fraction(length)] * full + [short] * (heads - full)) / (heads * length)


def ratio_is(length: int, ratio: Fraction = Fraction(25, 8), **setting: int) -> Margin:
    return same(1 / counted(length, **setting), ratio)


def reduction_at_least(length: int, **setting: int) -> Margin:
    return at_most(SEVENTY, 1 - counted(length, **setting))


def reduction_in_tens(length: int, **setting: int) -> Margin:
    """The reduction, rounded to tens of per cent, is 70."""
    return same(round(10 * (1 - counted(length, **setting))), 7)


def dropped_at_least(length: int) -> Margin:
    """A head without protection drops at least 70 % of its tokens."""
    return reduction_at_least(length, full=0)


def half_in_groups(groups: int, whole: int, chosen: int, group: int) -> Margin:
    """At 1024K tokens `whole` of the groups kept whole save half of the cache, and hold all `chosen` heads."""
    saved = 1 - counted(1_048_576, full=whole, heads=groups)
    return worst([at_most(Fraction(1, 2), saved), at_most(chosen, whole * group)])


def dropped_differs(length: int, part: int = 5, least: int = 4000) -> Margin:
    """A head without protection does not drop 70 % of its tokens."""
    return different(SEVENTY, 1 - counted(length, full=0, part=part, least=least))


def grouped(length: int, heads: int, chosen: int, group: int, place: Callable[[int], int]) -> Fraction:
    """Share kept with key-value groups: the chosen heads put where `place` says; a group is whole if one is in it."""
    whole = {place(index) // group for index in range(chosen)}
    return counted(length, full=len(whole), heads=heads // group)


def grouped_ratio(length: int, group: int, spread: bool = False) -> Margin:
    """80 heads, 12 of them chosen: packed into groups, or one a group."""
    place = (lambda index: index * group) if spread else (lambda index: index)
    return same(1 / grouped(length, 80, 12, group, place), Fraction(25, 8))


def half(length: int, group: int = 1) -> Margin:
    """31 % of the heads, each protected independently of the others: the expected reduction is at least one half."""
    whole = 1 - (1 - Fraction(31, 100)) ** group
    return at_most(Fraction(1, 2), 1 - kept_share(length, whole))
