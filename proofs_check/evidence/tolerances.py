"""Every tolerance of the checks, each with its reason. A comparison takes no other one."""

from __future__ import annotations

import math


class Tolerance(float):
    """A float with a reason. `times` gives the tolerance of a comparison whose sides are that much larger."""

    reason: str
    root: Tolerance

    def __new__(cls, value: float, reason: str, root: Tolerance | None = None) -> Tolerance:
        self = super().__new__(cls, value)
        self.reason, self.root = reason, root if root is not None else self
        return self

    def times(self, scale: float) -> Tolerance:
        """This tolerance for quantities `scale` times as large. Raises ValueError for a scale that is no size."""
        if not (math.isfinite(scale) and scale >= 0):
            raise ValueError(f"a tolerance is scaled by a finite number >= 0, got {scale}")
        return Tolerance(float(self) * float(scale), self.reason, self.root)


# Relative: what float64 may have added to either side of a comparison of two computed numbers. A float comparison that
# is closer than that is undecided, unless it names a tolerance. 2^-44 is 256 ulps.
NOISE = 2.0**-44

ROUNDING = Tolerance(1e-13, "float64 sums of at most a few hundred terms of order 1, with a digit to spare")

KERNEL = Tolerance(4e-15, "a few dozen float64 operations on numbers of order 1: 18 units in the last place of 1")

ASCENT = Tolerance(1e-6, "an optimum found by BFGS in floats: at full effort one draw ends 3e-8 below the supremum")

VISIBLE = Tolerance(1e-9, "a difference of two losses or outputs that rounding cannot explain: 10,000 times ROUNDING")

STANDARD_ERRORS = Tolerance(3.0, "three standard errors of a mean of seeded draws: .27 % of honest runs lie outside")


def named(tolerance: object) -> bool:
    """Is it one of this module's, possibly scaled?"""
    known = [value for value in globals().values() if isinstance(value, Tolerance)]
    return isinstance(tolerance, Tolerance) and any(tolerance.root is one for one in known)
