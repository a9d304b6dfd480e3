"""Checks of Section 3 and Appendix C of KV shifting against flows, draws and attention place by place."""

import itertools
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
import sympy as sp

from proofs_check.evidence.margin import Undecided
from proofs_check.kv.landscape import appendix_c, figure2_order, position_classes, width_limit
from proofs_check.ledger.claim import Effort
from proofs_check.oracles.landscape import one_hot_logits, symbolic_one_hot_logits
from theory import landscape
from theory.symbols import alpha1, alpha2, beta1


def test_the_mixed_derivative_is_that_of_the_loss():
    tokens, step = 6, 1e-4
    a, b = np.array([0.2, 0.9]), np.array([0.7, 0.1])

    def at(x, y):
        return landscape.loss(x, 1 - x, y, 1 - y, tokens)

    mixed = sum(s * t * at(a + s * step, b + t * step) for s, t in itertools.product((1, -1), repeat=2)) / (4 * step**2)
    z = np.exp(at(a, b)) / tokens
    expr = figure2_order.cross().subs(figure2_order.u, sp.Rational(1, tokens))
    found = [float(expr.subs({alpha1: x, beta1: y})) for x, y in zip(a, b, strict=True)]
    assert np.allclose(found, z**2 * tokens * mixed, rtol=1e-5)


def test_outside_the_box_descent_is_not_cooperative():
    expr = figure2_order.cross().subs({figure2_order.u: sp.Rational(1, 6), alpha1: -1, beta1: 30})
    assert float(expr) < 0


# Shares of the box


def _share(tokens, position):
    axis = (np.arange(60) + 0.5) / 60
    right = 0
    for a, b in itertools.product(axis, axis):
        right += one_hot_logits(a, 1 - a, b, 1 - b, tokens, position).argmax() == position
    return right / len(axis) ** 2


def test_shares_of_the_box_go_with_the_position():
    assert all(abs(_share(t, i) - 0.0271) < 0.002 for t, i in ((4, 2), (5, 1), (6, 4)))
    assert all(abs(_share(t, t - 1) - 0.1266) < 0.002 for t in (4, 6))


# Scores and logits at finite d


@pytest.mark.parametrize("kind", appendix_c.SCORES)
def test_score_variances_against_draws(kind):
    rng = np.random.default_rng(1)
    d, a1, a2 = 8, 0.7, -1.1
    u, v, w = (rng.normal(size=(200_000, d)) / np.sqrt(d) for _ in range(3))
    key = {"k = i, T + 1": a1 * u + a2 * v, "k = i + 1": a1 * v + a2 * u, "k = 1": a1 * v, "other k": a1 * v + a2 * w}
    claimed = float(appendix_c.SCORES[kind][-1].subs({alpha1: a1, alpha2: a2}))
    assert abs(d * np.var((u * key[kind]).sum(1)) / claimed - 1) < 0.03


# The closed form at every length


def at(expr, lengths):
    return sp.sympify(expr).subs(dict(zip((position_classes.p, position_classes.n), lengths, strict=True)))


@pytest.mark.parametrize("case", position_classes.CASES)
def test_runs_of_places_are_attention_place_by_place(case):
    family = position_classes.CASES[case]
    _, rows = position_classes.logits(family)
    for lengths in itertools.product(range(3), repeat=2):
        true = symbolic_one_hot_logits(int(at(family.tokens, lengths)), int(at(family.position, lengths)))
        found = {k: row.logit for row in rows for k in range(at(row.first, lengths), at(row.last, lengths) + 1)}
        assert sum(at(row.count, lengths) for row in rows) == len(true) and sorted(found) == [*range(1, len(true) + 1)]
        assert all(sp.simplify(at(found[k], lengths) - true[k - 1]) == 0 for k in found)


def test_the_five_families_are_all_sentences_once():
    found = Counter()
    for family in position_classes.CASES.values():
        lengths = itertools.product(range(8), repeat=2)
        found.update({(at(family.tokens, pair), at(family.position, pair)) for pair in lengths})
    assert all(found[tokens, position] == 1 for tokens in range(2, 9) for position in range(1, tokens + 1))


def test_what_depends_on_the_length_is_not_decided():
    p = position_classes.p
    for place in (1 + p, sp.Integer(2)):
        with pytest.raises(Undecided):
            position_classes.holds(sp.Integer(1), sp.Integer(3), place)


# Theorem 3.4 as a limit


def test_the_bound_on_the_loss_is_no_larger_than_a_matrix_that_works_against_it_needs():
    point = width_limit.hard_point(40, 4)
    assert width_limit.loss_moves(**point).value > 0
    assert width_limit.loss_moves(**point, factor=Fraction(9, 10)).value < 0


def test_the_gradient_at_a_gram_matrix_is_that_of_the_loss():
    point = next(itertools.islice(width_limit.gram_points(Effort.QUICK), 9, None))
    found = width_limit.evaluate(**point)
    step = Fraction(1, 10**5)
    for k, slope in enumerate([*found["alpha"], *found["beta"]]):
        ends = []
        for sign in (1, -1):
            moved = [v + sign * step * (j == k) for j, v in enumerate(point["parameters"])]
            ends.append(width_limit.evaluate(moved, point["gram"], point["position"])["loss"][0])
        assert abs(float(ends[0] - ends[1]) / float(2 * step) - float(slope)) < 1e-6
