"""Branch and bound proves what is true, refutes with an exact point, and says UNDECIDED otherwise."""

import math
from fractions import Fraction

import pytest
import sympy

from proofs_check.evidence import certify, check
from proofs_check.evidence.certificate import Leaf, Proof, Split
from theory.lowering.ball import Box, Outcome

X, Y, Z = sympy.symbols("x y z", real=True)
SQUARE = Box({X: (0, 1), Y: (0, 1)})
HALF = sympy.Rational(1, 2)

TRUE = [
    (X**2 + Y**2 - X * Y + sympy.Rational(1, 1000), SQUARE, True),
    (X**2 + Y**2 - 2 * X * Y + sympy.Rational(1, 1000), SQUARE, True),
    (X * Y, SQUARE, False),
    (X - sympy.tanh(X), Box({X: (0, 3)}), False),
    (sympy.exp(X) - 1 - X, Box({X: (-1, 1)}), False),
    (X**4 - X + HALF, Box({X: (-3, 3)}), True),
    (sympy.Max(X, 1 - X) - sympy.Rational(49, 100), Box({X: (0, 1)}), True),
    (sympy.log(1 + sympy.exp(X)) - X, Box({X: (-5, 5)}), True),
    (sympy.Piecewise((X, X < 1), (2 - X, True)) + sympy.Rational(1, 9), Box({X: (0, 2)}), True),
    (sympy.Integer(3), SQUARE, True),
]
FALSE = [
    (X * Y, SQUARE, True),
    (sympy.tanh(X) - X, Box({X: (0, 1)}), False),
    (X**2 - sympy.Rational(1, 10**6), Box({X: (-1, 2)}), True),
    ((X - HALF) ** 2 + (Y - sympy.Rational(1, 3)) ** 2 - sympy.Rational(1, 10**4), SQUARE, True),
    (sympy.Abs(X - sympy.Rational(3, 8)), Box({X: (0, 1)}), True),
    (-sympy.Integer(1), SQUARE, True),
]


@pytest.mark.parametrize(("expr", "box", "strict"), TRUE)
def test_true_bound_is_proved_and_rechecked(expr, box, strict):
    proof = certify.prove_positive(expr, box, strict=strict)
    checked = check.verify(proof.to_json(), expr, box, strict=strict)
    assert proof.outcome is checked.outcome is Outcome.PROVED
    assert 0 <= proof.margin < math.inf and checked.margin == pytest.approx(proof.margin, rel=1e-6)
    assert checked.leaves == sum(isinstance(node, Leaf) for node in proof.nodes) == (proof.boxes + 1) / 2


@pytest.mark.parametrize(("expr", "box", "strict"), FALSE)
def test_false_bound_is_refuted_at_an_exact_point(expr, box, strict):
    proof = certify.prove_positive(expr, box, strict=strict)
    checked = check.verify(proof.to_json(), expr, box, strict=strict)
    assert proof.outcome is checked.outcome is Outcome.REFUTED
    assert proof.margin < 0 and checked.margin < 0 and box.contains(proof.point)
    value = expr.subs({symbol: sympy.Rational(str(proof.point[symbol.name])) for symbol in expr.free_symbols})
    assert value.evalf(50) <= 0


@pytest.mark.parametrize(
    ("expr", "box", "strict"),
    [
        ((X - Y) ** 2, SQUARE, True),
        ((X - sympy.Rational(1, 3)) ** 2, Box({X: (0, 1)}), True),
        (X**2 + Y**2 - 2 * X * Y, SQUARE, False),
        (1 / X, Box({X: (-1, 1)}), True),
        (sympy.log(X), Box({X: (0, 1)}), False),
    ],
)
def test_bound_that_balls_cannot_settle_is_never_proved(expr, box, strict):
    proof = certify.prove_positive(expr, box, strict=strict, budget=300)
    assert proof.outcome is not Outcome.PROVED


def test_exhausted_budget_is_undecided_without_certificate():
    proof = certify.prove_positive((X - sympy.Rational(1, 3)) ** 2, Box({X: (0, 1)}), budget=50)
    assert proof.outcome is Outcome.UNDECIDED and math.isnan(proof.margin) and proof.boxes == 50
    with pytest.raises(ValueError, match="no certificate"):
        proof.to_json()


def test_bound_other_than_zero_is_subtracted_from_the_margin():
    proof = certify.prove_positive(X + 1, Box({X: (0, 1)}), bound="3/4")
    assert proof.outcome is Outcome.PROVED and proof.margin == pytest.approx(0.25)
    assert check.verify(proof.to_json(), X + 1, Box({X: (0, 1)}), bound="3/4").outcome is Outcome.PROVED
    assert certify.prove_positive(X + 1, Box({X: (0, 1)}), bound=1).outcome is Outcome.REFUTED
    assert certify.prove_positive(X + 1, Box({X: (0, 1)}), bound=1, strict=False).outcome is Outcome.PROVED


@pytest.mark.parametrize("gradients", [True, False])
def test_any_of_several_expressions_may_be_positive(gradients):
    exprs, box = [X - HALF, HALF - X, Y - sympy.Rational(1, 3)], Box({X: (0, 1), Y: (HALF, 1)})
    proof = certify.prove_any_positive(exprs, box, gradients=gradients)
    assert proof.outcome is Outcome.PROVED
    assert check.verify(proof.to_json(), exprs, box).outcome is Outcome.PROVED
    assert certify.prove_any_positive(exprs[:2], box, budget=500).outcome is Outcome.REFUTED


def test_no_critical_point_is_proved_by_a_nonzero_gradient():
    gradient = [sympy.diff(X**3 / 3 + X * Y**2 + 2 * X - Y, symbol) for symbol in (X, Y)]
    box = Box({X: (-2, 2), Y: (-2, 2)})
    proof = certify.prove_any_nonzero(gradient, box)
    assert proof.outcome is Outcome.PROVED
    assert check.verify(proof.to_json(), certify.both_signs(gradient), box).outcome is Outcome.PROVED


def test_critical_point_is_refuted_where_it_is_rational():
    proof = certify.prove_any_nonzero([X**2 + Y, Y + Z], Box({X: (-1, 3), Y: (-1, 1), Z: (-1, 1)}))
    assert proof.outcome is Outcome.REFUTED
    assert proof.point["x"] ** 2 + proof.point["y"] == proof.point["y"] + proof.point["z"] == 0


def test_gradient_steps_shorten_the_proof():
    expr, box = X**2 + Y**2 - 2 * X * Y + sympy.Rational(1, 10), SQUARE
    plain = certify.prove_positive(expr, box, gradients=False)
    guided = certify.prove_positive(expr, box)
    assert guided.outcome is plain.outcome is Outcome.PROVED and guided.boxes * 3 < plain.boxes
    kinds = [{node.kind for node in proof.nodes if isinstance(node, Leaf)} for proof in (guided, plain)]
    assert kinds[0] & {"monotone", "mean_value"} and kinds[1] == {"natural"}


@pytest.mark.parametrize("expr", [sympy.Abs(X), sympy.Max(X, -X), sympy.Piecewise((-X, X < 0), (X, True))])
def test_rough_expression_is_proved_without_its_gradient(expr):
    proof = certify.prove_positive(expr + sympy.Rational(1, 100), Box({X: (-1, 1)}))
    assert proof.outcome is Outcome.PROVED
    assert {node.kind for node in proof.nodes if isinstance(node, Leaf)} == {"natural"}


def test_step_function_is_not_proved_by_its_zero_gradient():
    step = sympy.Piecewise((-1, sympy.Rational(1, 3) > X), (1, True))
    assert certify.prove_positive(step, Box({X: (0, 1)})).outcome is Outcome.REFUTED


def test_jump_hidden_in_an_arctangent_is_not_proved():
    # d/dx atan(1/x) is bounded, but the function jumps at 0; the least value on the box is -pi/2 + something.
    expr = sympy.atan(1 / X) + sympy.Rational(3, 2)
    assert certify.prove_positive(expr, Box({X: (-1, 1)}), budget=500).outcome is not Outcome.PROVED


def test_integer_symbol_is_refuted_only_at_an_integer():
    n = sympy.Symbol("n", integer=True)
    expr, box = (n - HALF) ** 2 - sympy.Rational(1, 5), Box({n: (0, 2)})
    proof = certify.prove_positive(expr, box, budget=200)
    assert proof.outcome is Outcome.UNDECIDED
    assert certify.prove_positive(expr - 1, box).point == {"n": Fraction(0)}


def test_certificate_survives_the_way_through_json():
    proof = certify.prove_positive(*TRUE[1][:2])
    again = Proof.from_json(proof.to_json())
    assert again.to_json() == proof.to_json()
    assert again.nodes == proof.nodes and again.boxes == proof.boxes and again.outcome is proof.outcome
    refuted = certify.prove_positive(*FALSE[3][:2])
    assert Proof.from_json(refuted.to_json()).point == refuted.point
    assert all(isinstance(node, Split | Leaf) for node in proof.nodes)


def test_certificate_is_the_same_in_every_run():
    assert certify.prove_positive(*TRUE[0][:2]).to_json() == certify.prove_positive(*TRUE[0][:2]).to_json()


@pytest.mark.parametrize(
    ("call", "why"),
    [
        (lambda: certify.prove_any_positive([], SQUARE), "0 expressions"),
        (lambda: certify.prove_positive(X, SQUARE, budget=0), "budget 0"),
        (lambda: certify.prove_positive(X, SQUARE, precision=4), "precision 4"),
        (lambda: certify.prove_positive(X, SQUARE, bound=0.5), "float"),
        (lambda: certify.prove_positive(X + Z, SQUARE), "no side 'z'"),
        (lambda: certify.prove_positive(X + sympy.Symbol("x"), SQUARE), "different assumptions"),
        (lambda: certify.prove_positive(sympy.Symbol("x", positive=True), SQUARE), "assumed positive"),
        (lambda: certify.prove_positive(sympy.gamma(X), SQUARE), "gamma"),
        (lambda: certify.prove_positive(X * 0.5, SQUARE), "float"),
    ],
)
def test_claim_without_sense_is_refused(call, why):
    with pytest.raises(ValueError, match=why):
        call()
