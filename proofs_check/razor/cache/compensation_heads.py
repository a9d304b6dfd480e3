"""Heads written out token by token, sharing nothing with `theory`: with symbols for the weights, and in rationals.

In rationals the logits are whole multiples of ln 2, so that every weight is a power of two; the mean of the dropped
logits must be whole as well for the weight of the compensation token to be one.
"""

from collections.abc import Sequence
from fractions import Fraction
from typing import NamedTuple

import sympy as sp


class Outputs(NamedTuple):
    """Masses T and That, and the outputs over all tokens, the kept ones, the kept ones and the token; the means."""

    mass: sp.Expr
    token_mass: sp.Expr
    full: sp.Expr
    kept: sp.Expr
    compensated: sp.Expr
    dropped_mean: sp.Expr
    token_value: sp.Expr


def outputs(dropped: Sequence, dropped_values: Sequence, kept: Sequence, kept_values: Sequence, token, token_value):
    """Eq. 5 and its neighbours for one coordinate of the values: weights and values as given, `token` its weight."""
    pairs = [*zip(dropped, dropped_values, strict=True)], [*zip(kept, kept_values, strict=True)]
    z_dropped, z_kept = sum(dropped), sum(kept)
    sums = [sum(w * v for w, v in group) for group in pairs]
    return Outputs(
        z_dropped / (z_dropped + z_kept),
        token / (token + z_kept),
        sum(sums) / (z_dropped + z_kept),
        sums[1] / z_kept,
        (token * token_value + sums[1]) / (token + z_kept),
        sums[0] / z_dropped,
        token_value,
    )


def symbolic_head() -> Outputs:
    """Any number of dropped and of kept tokens: one a side, whose free positive weight is the sum of all and whose
    value their weighted mean. The weight of the token is free as well, and so is its value.
    """
    down, up, token = sp.symbols("Z_D Z_K z", positive=True)
    u, v, w = sp.symbols("u v vhat", real=True)
    return outputs([down], [u], [up], [v], token, w)


def dyadic_head(dropped: Sequence[int], dropped_values: Sequence, kept: Sequence[int], kept_values: Sequence):
    """Logits in units of ln 2; the token has the mean dropped logit and value, and weight N_d."""
    mean = Fraction(sum(dropped), len(dropped))
    if mean.denominator > 1:
        raise ValueError(f"the mean of the dropped logits must be whole, got {mean}")
    values = [Fraction(v) for v in dropped_values]
    return outputs(
        [Fraction(2) ** x for x in dropped],
        values,
        [Fraction(2) ** x for x in kept],
        [Fraction(v) for v in kept_values],
        len(dropped) * Fraction(2) ** int(mean),
        sum(values) / len(values),
    )
