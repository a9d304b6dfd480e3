"""Checks of Section 3 and Appendix C of KV shifting against flows, draws and attention place by place."""

import itertools
from fractions import Fraction

import numpy as np
import pytest
import sympy as sp

from proofs_check.evidence.margin import Undecided
from proofs_check.kv.landscape import figure2_order, position_classes, width_limit_checks
from proofs_check.kv.landscape import theorem34_checks as closed
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


@pytest.mark.parametrize("kind", list(closed.SCORES))
def test_score_variances_against_draws(kind):
    rng = np.random.default_rng(1)
    d, a1, a2 = 8, 0.7, -1.1
    u, v, w = (rng.normal(size=(200_000, d)) / np.sqrt(d) for _ in range(3))
    key = {"k = i": a1 * u + a2 * v, "k = i + 1": a1 * v + a2 * u, "k = T + 1": a1 * u + a2 * v,
           "k = 1": a1 * v, "other k": a1 * v + a2 * w}[kind]  # fmt: skip
    claimed = float(closed.VARIANCES[kind].subs({alpha1: a1, alpha2: a2}))
    assert abs(d * np.var((u * key).sum(1)) / claimed - 1) < 0.03


# The closed form at every length


@pytest.mark.parametrize("case", list(position_classes.CASES))
def test_runs_of_places_are_attention_place_by_place(case):
    family = position_classes.CASES[case]
    _, rows = position_classes.logits(family)
    for p, n in itertools.product(range(3), repeat=2):
        at = {position_classes.p: p, position_classes.n: n}
        tokens, position = int(sp.sympify(family.tokens).subs(at)), int(sp.sympify(family.position).subs(at))
        found = {}
        for row in rows:
            for k in range(int(row.first.subs(at)), int(row.last.subs(at)) + 1):
                assert k not in found
                found[k] = row.logit.subs(at)
        true = symbolic_one_hot_logits(tokens, position)
        assert sorted(found) == list(range(1, tokens + 1))
        assert all(sp.simplify(found[k] - true[k - 1]) == 0 for k in found)


def test_the_five_families_are_all_sentences_once():
    for tokens, position in ((t, i) for t in range(2, 9) for i in range(1, t + 1)):
        fits = 0
        for family in position_classes.CASES.values():
            symbols = (position_classes.p, position_classes.n)
            used = [s for s in symbols if {s} & (sp.sympify(family.tokens).free_symbols)]
            solved = sp.solve([family.tokens - tokens, family.position - position], used, dict=True) if used else (
                [{}] if (family.tokens, family.position) == (tokens, position) else []
            )  # fmt: skip
            fits += any(all(value.is_integer and value >= 0 for value in s.values()) for s in solved)
        assert fits == 1, (tokens, position)


def test_what_depends_on_the_length_is_not_decided():
    with pytest.raises(Undecided):
        position_classes.sign(position_classes.p - 1, position_classes.p - 1)
    with pytest.raises(Undecided):
        position_classes.sign(sp.Integer(-1), sp.Integer(1))


# Theorem 3.4 as a limit


def test_the_bound_on_the_loss_is_no_larger_than_a_matrix_that_works_against_it_needs():
    point = width_limit_checks.hard_point(40, 4)
    assert width_limit_checks.loss_moves(**point).value > 0
    assert width_limit_checks.loss_moves(**point, factor=Fraction(9, 10)).value < 0


def test_the_gradient_at_a_gram_matrix_is_that_of_the_loss():
    point = next(itertools.islice(width_limit_checks.gram_points(Effort.QUICK), 9, None))
    found = width_limit_checks.evaluate(**point).gradient
    step = Fraction(1, 10**5)
    for k in range(4):
        ends = []
        for sign in (1, -1):
            moved = [v + sign * step * (j == k) for j, v in enumerate(point["parameters"])]
            ends.append(width_limit_checks.evaluate(tuple(moved), point["gram"], point["position"]).loss)
        assert abs(float(ends[0] - ends[1]) / float(2 * step) - float(found[k])) < 1e-6
