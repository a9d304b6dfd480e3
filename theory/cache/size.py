"""Size of a KV cache in which some heads keep every token and the others a buffer: exact for ints and Fractions.

Source: RazorAttention, Table 2: 15 % of the heads (14 % induction, 1 % echo) protected, a buffer of max(4000, N/5)
tokens elsewhere, so that 15 % + 85 % / 5 = 32 % is kept at best, from N = 20000 on.
"""

from fractions import Fraction
from math import comb

from theory.checked import UNIT, elementwise, real, whole

PROTECTED = Fraction(15, 100)
LEAST_BUFFER = 4000
BUFFER_SHARE = Fraction(1, 5)


@elementwise("length")
def buffer_length(length: int) -> Fraction:
    """max(4000, N/5), at most N. Raises ValueError for length < 1."""
    length = whole("length", length, 1)
    return min(Fraction(length), max(Fraction(LEAST_BUFFER), BUFFER_SHARE * length))


@elementwise("length", "protected", "extra")
def kept_share(length: int, protected: Fraction = PROTECTED, extra: int = 0) -> Fraction:
    """Share of the cache that is kept, p + (1 - p) min(1, (buffer + extra) / N).

    Args: length N >= 1; protected p in [0, 1], of the key-value heads; extra, sinks and compensation token of a head.
    Returns: in [8/25, 1] for p = 15 %; the compression ratio is its inverse, the reduction 1 minus it.
    Raises ValueError outside those domains.
    """
    number = real("protected", protected, UNIT)
    if not isinstance(protected, int | Fraction):  # half precision is widened before anything is computed
        protected = number
    length, extra = whole("length", length, 1), whole("extra", extra, 0)
    return protected + (1 - protected) * min(Fraction(1), (buffer_length(length) + extra) / length)


@elementwise("heads", "chosen", "group")
def protected_groups(heads: int, chosen: int, group: int) -> tuple[Fraction, Fraction, Fraction]:
    """Share of key-value groups that hold a chosen head: least, mean over all placements, most.

    A group is kept whole if one of its `group` query heads is chosen. Least: ceil(chosen / group) groups of
    heads / group; mean: 1 - C(heads - group, chosen) / C(heads, chosen); most: one group a head.
    Raises ValueError unless group >= 1 divides heads and 0 <= chosen <= heads.
    """
    heads, group = whole("heads", heads, 1), whole("group", group, 1)
    chosen = whole("chosen", chosen, 0, heads)
    if heads % group:
        raise ValueError(
            f"{heads} heads in groups of {group}, {chosen} chosen: need whole groups, 0 <= chosen <= heads"
        )
    groups = heads // group
    mean = 1 - Fraction(comb(heads - group, chosen), comb(heads, chosen))
    return Fraction(-(-chosen // group), groups), mean, Fraction(min(chosen, groups), groups)
