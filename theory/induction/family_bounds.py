"""How far a head that concentrates is from an induction head at a finite scale: see `theory.induction.family`."""

from fractions import Fraction
from math import log

import numpy as np

from theory.checked import ANY, NONNEGATIVE, POSITIVE, UNIT, elementwise, real, sized, whole
from theory.induction.family import exactly


def _share(log_odds: float) -> float:
    """1/(1 + e^{-x}), without overflow."""
    return float(np.exp(-np.logaddexp(0.0, -log_odds)))


@elementwise("length", "gap", "scale")
@sized()
def attention_error_bound(length: int, gap: float, scale: float) -> float:
    """Attention off p + 1 is at most n/(n + e^{scale gap}), n = L - 1: each other score is lower by scale gap or more.

    Args: length >= 3; gap > 0: of `attention_gap`; scale >= 0, of `head_weights`. Tends to 0 with the scale.
    """
    lower = real("scale", scale, NONNEGATIVE) * real("gap", gap, POSITIVE)
    return _share(log(whole("length", length, 3) - 1) - lower)


@elementwise("length", "ratio", "scale")
@sized()
def key_shift_error(length: int, ratio: float, scale: float) -> float:
    """Attention off p + 1 where keys alone are shifted, exactly: w/(w + e^scale), w = 2 e^{ratio scale} + L - 3.

    Two places hold the last token itself, L - 3 neither it nor its successor. Tends to 0 with the scale if ratio < 1.
    Args: length >= 3; ratio = k0/k1; scale >= 0.
    """
    strength, others = real("scale", scale, NONNEGATIVE), whole("length", length, 3) - 3
    own = log(2.0) + (real("ratio", ratio, ANY) - 1) * strength
    return _share(float(np.logaddexp(own, log(others) - strength)) if others else own)


@elementwise("error")
@sized()
def logit_lead_bound(value: tuple[float, float], error: float) -> float:
    """The target leads by (1 - e) min(1, 1 - v1/v0) - e (1 + |v1/v0|) or more, where e of the attention is off p + 1.

    The value at a place is a one-hot row plus v1/v0 times another, so no two entries differ by more than 1 + |v1/v0|.
    Args: value: (v0, v1), v0 not 0; error in [0, 1]. With v1 = 0 no entry of the output is more than e off.
    """
    v0, v1 = exactly("value", value)
    if v0 == 0:
        raise ValueError("value must have v0 not 0")
    off, ratio = Fraction(real("error", error, UNIT)), v1 / v0
    return float((1 - off) * min(1, 1 - ratio) - off * (1 + abs(ratio)))  # the two may cancel: rounded once
