"""A fitted law gives back the law that made its losses, with Student's interval over the seeds."""

import numpy as np
import pytest

from dynamics.arena.scaling import fit
from dynamics.statistics.estimate import student

SIZES = (1e4, 3e4, 1e5)


def test_the_interval_is_students_of_the_seeds_own_exponents():
    drawn = np.random.default_rng(0)
    exponents, levels = drawn.normal(0.1, 0.02, 9), drawn.normal(0.7, 0.01, 9)
    middle = np.exp(np.log(SIZES).mean())
    law = fit(
        SIZES, [np.exp(level) * (np.array(SIZES) / middle) ** -e for e, level in zip(exponents, levels, strict=True)]
    )
    assert law.middle == pytest.approx(middle) and law.exponent == pytest.approx(student(exponents))
    assert law.scale == pytest.approx(tuple(np.exp(student(levels))))
