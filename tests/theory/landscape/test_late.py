"""The late terms are the gradient's: slopes in bounded variables against those of the landscape."""

import mpmath
import numpy as np
import pytest
import sympy as sp

from theory.landscape.late_field import c, combination, g, own, r, u
from theory.landscape.symbolic import interior_table, loss
from theory.lowering.numeric import numeric
from theory.symbols import PARAMETERS


@pytest.mark.parametrize(("tokens", "beta1", "a", "c_value", "g_value"), [(8, 50, "0.7", 3, "2.5"), (30, 9, 2, 11, 40)])
def test_ratios_of_late_slopes_are_those_of_the_loss(tokens, beta1, a, c_value, g_value):
    expr = loss(interior_table(sp.Integer(tokens)))
    slopes = numeric([sp.diff(expr, p) for p in PARAMETERS], PARAMETERS, "mpmath")
    late = numeric([combination(tokens, row, {}) for row in np.eye(4, dtype=int).tolist()], (u, r, own, c, g), "mpmath")
    with mpmath.workdps(60):
        b, a, c_value, g_value = (mpmath.mpf(x) for x in (beta1, a, c_value, g_value))
        beta2 = mpmath.log(g_value / b)
        g1, g2, g3, g4 = slopes(mpmath.log(a), mpmath.log(c_value * b**2), b, beta2)
        one, two, three, four = late(1 / b, beta2 / b, a, c_value, g_value)
        for found, wanted in ((one, b * g1 / a), (two, b * g2), (four, b * g4)):
            assert abs(found / three - wanted / g3) < mpmath.mpf(10) ** -25
