"""Formulas of the statements about mixed keys and about reach against theory's, at drawn points."""

import math
import random
from fractions import Fraction

import numpy as np
import pytest

from proofs_check.core import witness
from proofs_check.core.mutants import mutants
from proofs_check.core.statement import obligations
from proofs_check.language.notation import real
from proofs_check.ledger.proofs import script_of
from proofs_check.razor.formal import FORMAL, mixed_keys, theorem1
from proofs_check.razor.formal import definitions as razor
from proofs_check.rigour.points.exact import as_fractions
from tests.proofs_check.test_formal_truth import POINTS, close, numbers, opened, part
from theory.alibi import reach, shifted_scope


def drawn(label, *more, sign=0):
    """k, l, D, p, r and more; sign: 1 for r <= p, -1 for p < r."""
    rng = random.Random(label)
    for _ in range(POINTS):
        found = numbers(rng, ("k", "l", "D", "p", "r", *more))
        if sign and (found["r"] <= found["p"]) != (sign > 0):
            found["p"], found["r"] = found["r"], found["p"] + (sign < 0) * Fraction(1, 8)
        yield found, [float(found[name]) for name in ("k", "l", "D", "p", "r")]


def case(point):
    """Which side of p = r e^l."""
    return int(point["p"] < point["r"] * Fraction(math.exp(point["l"])))


def test_odds_of_one_sign():
    for point, numbers_ in drawn("one", sign=1):
        close(mixed_keys.alike_odds(razor.spread), point, math.exp(shifted_scope.log_shifted_odds(*numbers_)), 1e-11)
    inside = 0
    for point, (_, _, D, p, r) in drawn("other", sign=-1):
        point["k"], point["l"] = 2 + point["k"] % 3, point["l"] / 8  # near enough for a minimum inside
        k, l = float(point["k"]), float(point["l"])  # noqa: E741
        rest = sum(math.exp(l * j) for j in range(1, int(k)))
        turn = math.log(p * rest / (r - p)) / r if rest else -math.inf
        true = math.exp(shifted_scope.log_shifted_odds(k, l, D, p, r))
        close(mixed_keys.alike_odds(real("x")), {**point, "x": Fraction(min(max(turn, 0.0), D))}, true, 1e-9)
        inside += 0 < turn < D
    assert inside > 3


def test_bounds_of_opposite_signs():
    cases = set()
    for point, (k, l, D, p, r) in drawn("opposite"):  # noqa: E741
        number = case(point)
        cases.add(number)
        weight = part("razor.thm1.shifted.opposite", number, 1, 2)
        close(weight, point, shifted_scope.shifted_weight_bound(k, l, D, p, -r), 1e-11)
        mass = part("razor.sec3.1.shifted", number, 1, 2)
        close(mass, point, shifted_scope.shifted_dropped_mass(k, l, D, p, -r), 1e-11)
    assert cases == {0, 1}


def test_scope_and_window_of_opposite_signs():
    for point, (_, l, D, p, r) in drawn("scope", "eps"):  # noqa: E741
        steady, fading = (p, r * math.exp(l)) if not case(point) else (r - p * math.expm1(-l), p)
        point["x"], point["q"] = Fraction(steady), Fraction(fading)
        point["m"] = Fraction(max(math.exp(l), (1 / float(point["eps"]) - 1) * math.exp(D * steady)))
        for number, function in ((0, shifted_scope.shifted_scope), (1, shifted_scope.shifted_window)):
            told = part("razor.thm1.shifted.scope", number, 0).parts[-1]
            close(told.parts[1], point, function(l, D, p, -r, float(point["eps"])), 1e-9)


def test_the_gap_of_reach_and_window():
    rng = random.Random("gap")
    for _ in range(POINTS):
        point = {"l": Fraction(rng.randint(1, 24), 8), "delta": Fraction(rng.randint(1, 8), 16)}
        close(theorem1.GAP, point, reach.reach_forget_gap(*map(float, point.values())), 1e-11)


@pytest.mark.parametrize(("name", "path", "sign"), [("razor.thm1.shifted.alike", (0, 1), 1),
                                                    ("razor.thm1.shifted.opposite", (0, 1, 1), -1)])  # fmt: skip
def test_attention_to_mixed_keys_is_a_softmax(name, path, sign):
    term, rng = opened(part(name, *path), FORMAL[name].definitions), random.Random(name)
    for _ in range(POINTS):
        n = rng.randint(2, 6)
        point = {"n": Fraction(n), "k": Fraction(rng.randint(1, n - 1)), **numbers(rng, ("l", "p", "r"))}
        point["s"] = tuple(Fraction(rng.randint(-8, 8), 8) for _ in range(n))
        s, (l, p, r) = np.array(point["s"], float), (float(point[x]) for x in "lpr")  # noqa: E741
        shares = np.exp(p * s + sign * r * np.concatenate([[0.0], s[:-1]]) + l * np.arange(n))
        close(term, point, (shares / shares.sum())[n - 1 - int(point["k"])])


@pytest.mark.parametrize("name", ["razor.thm1.gap", *(f"razor.{place}" for place in (
    "thm1.shifted.alike", "thm1.shifted.opposite", "sec3.1.shifted", "thm1.shifted.scope"))])  # fmt: skip
def test_the_points_that_a_script_names_refute_mutants_and_not_the_statement(name):
    made = FORMAL[name]
    wrong = [sequent for mutant in mutants(made) for _, sequent in obligations(mutant.statement)]
    for point in map(as_fractions, script_of(name)["points"](None)):
        assert any(witness.refutes(sequent, point) for sequent in wrong)
        assert not any(witness.refutes(sequent, point) for _, sequent in obligations(made))
