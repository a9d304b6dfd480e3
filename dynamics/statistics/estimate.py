"""A value with its interval: one record for every statistic."""

from typing import NamedTuple


class Estimate(NamedTuple):
    """A value and both ends of its interval.

    NaN: not known, as the ends where there is one sample only, or a value that censoring hides altogether; +inf: beyond
    the budget of a time that is censored there.
    """

    value: float
    low: float
    high: float
