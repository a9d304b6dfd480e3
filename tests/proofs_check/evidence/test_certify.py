"""Branch and bound proves, refutes with an exact point or says UNDECIDED; the search in detail."""

import inspect
import json
import math
from fractions import Fraction

import pytest
from pytest import approx
from sympy import Abs, Integer, Max, Piecewise, Rational, Symbol, atan, exp, gamma, log, sqrt, symbols, tanh

from proofs_check.evidence import krawczyk
from proofs_check.evidence.certificate import Leaf, Proof, Split
from proofs_check.evidence.certify import both_signs, prove_any_nonzero, prove_any_positive, prove_positive
from proofs_check.evidence.check import FORMAT, digest, statement, verify
from theory.lowering.box import Box, Outcome

PROVED, REFUTED, UNDECIDED = Outcome

X, Y, Z = symbols("x y z", real=True)
UNIT, SQUARE = Box({X: (0, 1)}), Box({X: (0, 1), Y: (0, 1)})
R = Rational
HALF = R(1, 2)

TRUE = [
    (X**2 + Y**2 - X * Y + R(1, 1000), SQUARE, True),
    (X**2 + Y**2 - 2 * X * Y + R(1, 1000), SQUARE, True),
    (X * Y, SQUARE, False),
    (X - tanh(X), Box({X: (0, 3)}), False),
    (Max(X, 1 - X) - R(49, 100), UNIT, True),
    (log(1 + exp(X)) - X, Box({X: (-5, 5)}), True),
    (Piecewise((X, X < 1), (2 - X, True)) + R(1, 9), Box({X: (0, 2)}), True),
    (Integer(3), SQUARE, True),
]
FALSE = [
    (X * Y, SQUARE, True),
    (tanh(X) - X, UNIT, False),
    (X**2 - R(1, 10**6), Box({X: (-1, 2)}), True),
    ((X - HALF) ** 2 + (Y - R(1, 3)) ** 2 - R(1, 10**4), SQUARE, True),
    (Abs(X - R(3, 8)), UNIT, True),
    (-Integer(1), SQUARE, True),
]


@pytest.mark.parametrize(("expr", "box", "strict"), TRUE)
def test_true_bound_is_proved_and_rechecked(expr, box, strict):
    proof = prove_positive(expr, box, strict=strict)
    checked = verify(proof.to_json(), expr, box, strict=strict)
    assert proof.outcome is checked.outcome is PROVED
    assert 0 <= proof.margin < math.inf and checked.margin == approx(proof.margin, rel=1e-6)
    assert checked.leaves == sum(isinstance(node, Leaf) for node in proof.nodes) == (proof.boxes + 1) / 2


@pytest.mark.parametrize(("expr", "box", "strict"), FALSE)
def test_false_bound_is_refuted_at_an_exact_point(expr, box, strict):
    proof = prove_positive(expr, box, strict=strict)
    checked = verify(proof.to_json(), expr, box, strict=strict)
    assert proof.outcome is checked.outcome is REFUTED
    assert proof.margin < 0 and checked.margin < 0 and box.contains(proof.point)
    value = expr.subs({symbol: R(str(proof.point[symbol.name])) for symbol in expr.free_symbols})
    assert value.evalf(50) <= 0


@pytest.mark.parametrize(
    ("expr", "box", "strict"),
    [
        ((X - Y) ** 2, SQUARE, True),
        (1 / X, Box({X: (-1, 1)}), True),
        (log(X), UNIT, False),
    ],
)
def test_bound_that_balls_cannot_settle_is_never_proved(expr, box, strict):
    proof = prove_positive(expr, box, strict=strict, budget=300)
    assert proof.outcome is not PROVED


def test_exhausted_budget_is_undecided_without_certificate():
    proof = prove_positive((X - R(1, 3)) ** 2, UNIT, budget=50)
    assert proof.outcome is UNDECIDED and math.isnan(proof.margin) and proof.boxes == 50
    with pytest.raises(ValueError, match="no certificate"):
        proof.to_json()


def test_bound_other_than_zero_is_subtracted_from_the_margin():
    proof = prove_positive(X + 1, UNIT, bound="3/4")
    assert proof.outcome is PROVED and proof.margin == approx(0.25)
    assert verify(proof.to_json(), X + 1, UNIT, bound="3/4").outcome is PROVED
    assert prove_positive(X + 1, UNIT, bound=1).outcome is REFUTED
    assert prove_positive(X + 1, UNIT, bound=1, strict=False).outcome is PROVED


@pytest.mark.parametrize("gradients", [True, False])
def test_any_of_several_expressions_may_be_positive(gradients):
    exprs, box = [X - HALF, HALF - X, Y - R(1, 3)], Box({X: (0, 1), Y: (HALF, 1)})
    proof = prove_any_positive(exprs, box, gradients=gradients)
    assert proof.outcome is PROVED
    assert verify(proof.to_json(), exprs, box).outcome is PROVED
    assert prove_any_positive(exprs[:2], box, budget=500).outcome is REFUTED


def test_critical_point_is_refuted_where_it_is_rational():
    proof = prove_any_nonzero([X**2 + Y, Y + Z], Box({X: (-1, 3), Y: (-1, 1), Z: (-1, 1)}))
    assert proof.outcome is REFUTED
    assert proof.point["x"] ** 2 + proof.point["y"] == proof.point["y"] + proof.point["z"] == 0


def test_step_function_is_not_proved_by_its_zero_gradient():
    step = Piecewise((-1, R(1, 3) > X), (1, True))
    assert prove_positive(step, UNIT).outcome is REFUTED


def test_jump_hidden_in_an_arctangent_is_not_proved():
    # d/dx atan(1/x) is bounded, but the function jumps at 0; the least value on the box is -pi/2 + something.
    expr = atan(1 / X) + R(3, 2)
    assert prove_positive(expr, Box({X: (-1, 1)}), budget=500).outcome is not PROVED


def test_integer_symbol_is_refuted_only_at_an_integer():
    n = Symbol("n", integer=True)
    expr, box = (n - HALF) ** 2 - R(1, 5), Box({n: (0, 2)})
    proof = prove_positive(expr, box, budget=200)
    assert proof.outcome is UNDECIDED
    assert prove_positive(expr - 1, box).point == {"n": Fraction(0)}


def test_certificate_survives_the_way_through_json():
    proof = prove_positive(*TRUE[1][:2])
    again = Proof.from_json(proof.to_json())
    assert again.to_json() == proof.to_json() and math.isnan(again.margin)
    assert again.nodes == proof.nodes and again.boxes == proof.boxes and again.outcome is proof.outcome
    refuted = prove_positive(*FALSE[3][:2])
    assert Proof.from_json(refuted.to_json()).point == refuted.point
    assert all(isinstance(node, Split | Leaf) for node in proof.nodes)


@pytest.mark.parametrize(
    ("expr", "options", "why"),
    [
        (X, {"budget": 0}, "budget 0"),
        (X, {"precision": 4}, "precision 4"),
        (X, {"bound": 0.5}, "float"),
        (X + Z, {}, "no side 'z'"),
        (X + Symbol("x"), {}, "different assumptions"),
        (Symbol("x", positive=True), {}, "assumed positive"),
        (gamma(X), {}, "gamma"),
        (X * 0.5, {}, "float"),
        ("x + 1", {}, "x"),
    ],
)
def test_claim_without_sense_is_refused(expr, options, why):
    with pytest.raises(ValueError, match=why):
        prove_positive(expr, SQUARE, **options)


def test_a_claim_without_expressions_is_refused():
    with pytest.raises(ValueError, match="0 expressions"):
        prove_any_positive([], SQUARE)


VALLEY = X**2 + Y**2 - 2 * X * Y + R(1, 10)


SEARCH = {"budget": 20_000, "precision": 128}
CLAIMED = {"bound": 0, "strict": True}


@pytest.mark.parametrize(
    ("function", "options"),
    [
        (prove_any_positive, CLAIMED | SEARCH | {"gradients": True}),
        (prove_positive, CLAIMED | SEARCH | {"gradients": True}),
        (prove_any_nonzero, SEARCH | {"gradients": True}),
        (krawczyk.no_zero, SEARCH),
        (krawczyk.unique_zero, SEARCH | {"budget": 5_000}),
        (verify, CLAIMED),
    ],
)
def test_options_have_their_documented_defaults(function, options):
    parameters = inspect.signature(function).parameters.values()
    assert {p.name: p.default for p in parameters if p.kind is p.KEYWORD_ONLY} == options


def test_options_reach_the_search():
    box = Box({X: (-1, 2), Y: (-1, 2)})
    for prove in (krawczyk.no_zero, prove_any_nonzero):
        proof = prove([X**2 - 2 * Y**2 + 1, X - Y**3 - 1], box, budget=3, precision=77)
        assert (proof.outcome, proof.boxes, proof.precision) == (UNDECIDED, 3, 77)
    plain = prove_any_nonzero([VALLEY], SQUARE, gradients=False)
    assert {node.kind for node in plain.nodes if isinstance(node, Leaf)} == {"natural"}
    guided = prove_any_nonzero([VALLEY], SQUARE)
    assert {node.kind for node in guided.nodes if isinstance(node, Leaf)} > {"natural"}
    proof = prove_positive(VALLEY, SQUARE, bound=R(1, 20), budget=9, precision=99, gradients=False)
    assert (proof.outcome, proof.boxes, proof.precision) == (UNDECIDED, 9, 99)


def test_the_least_budget_and_precision_are_allowed():
    proof = prove_positive(X + 1, UNIT, budget=1, precision=24)
    assert (proof.outcome, proof.boxes) == (PROVED, 1)


def test_the_statement_is_what_the_caller_claims():
    box = Box({X: (0, "1/3")})
    claimed = {"any_of": ["Symbol('x', real=True)"], "relation": ">", "bound": "1/2", "box": [["x", "0", "1/3"]]}
    assert statement([X], box, "0.5", True) == claimed
    assert statement([X], box, "0.5", False) == {**claimed, "relation": ">="}


@pytest.mark.parametrize(
    ("expr", "box", "outcome", "boxes"),
    [
        (X, UNIT, REFUTED, 0),
        ((X - R(1, 2)) ** 2 - R(1, 100), UNIT, REFUTED, 1),
        ((X - R(1, 4)) ** 2 - R(1, 1000), UNIT, REFUTED, 2),
        (exp(X * log(2)) - 2, Box({X: (1, 1)}), UNDECIDED, 1),
        (X + 1, UNIT, PROVED, 1),
    ],
)
def test_boxes_looked_at_are_counted(expr, box, outcome, boxes):
    proof = prove_positive(expr, box)
    assert (proof.outcome, proof.boxes) == (outcome, boxes)


def test_the_margin_is_a_lower_bound_and_tight():
    margin = Fraction(prove_positive(X + R(1, 3), UNIT).margin)
    assert Fraction(1, 3) - Fraction(1, 10**15) < margin < Fraction(1, 3)
    assert prove_positive(X, UNIT, strict=False).margin == 0.0


def test_the_margin_of_a_refutation_is_the_largest_gap_and_negative():
    proof = prove_any_positive([X - 3, X - 2, X - 4], UNIT)
    assert proof.point == {"x": 0} and proof.margin == approx(-2) and proof.margin >= -2
    assert prove_positive(X * Y, SQUARE).margin == math.nextafter(0, -1)


def test_the_axis_split_is_the_widest_against_the_whole_box():
    expr = X**2 - X + (Y / 100) ** 2 - Y / 100 + R(51, 100)
    proof = prove_positive(expr, Box({X: (0, 1), Y: (0, 100)}), gradients=False)
    assert proof.nodes[:2] == (Split("x", Fraction(1, 2)), Split("y", Fraction(50)))
    flat = prove_positive(X**2 - X + Y, Box({X: (0, 1), Y: (R(26, 100), R(26, 100))}), gradients=False)
    assert flat.outcome is PROVED
    assert {node.axis for node in flat.nodes if isinstance(node, Split)} == {"x"}


def test_a_rising_expression_is_proved_on_its_lowest_face_at_once():
    proof = prove_positive(X - X**2 / 4, UNIT, bound="-1/10")
    assert [node.kind for node in proof.nodes] == ["monotone"] and proof.margin == approx(0.1)
    falling = prove_positive(X**2 / 4 - X, UNIT, bound="-8/10")
    assert [node.kind for node in falling.nodes] == ["monotone"] and falling.margin == approx(0.05)


@pytest.mark.parametrize("first", [Abs(X) - 5, sqrt(X) - 5, X - 5, 1 / X - 5], ids=str)
def test_an_expression_that_cannot_help_does_not_stop_the_next(first):
    proof = prove_any_positive([first, VALLEY], SQUARE)
    leaves = [node for node in proof.nodes if isinstance(node, Leaf)]
    assert proof.outcome is PROVED and proof.boxes == 27
    assert {leaf.kind for leaf in leaves} == {"natural", "monotone", "mean_value"}
    assert {leaf.which for leaf in leaves} == {1}


def test_leaves_claim_a_little_less_than_was_found_in_short_numbers():
    (leaf,) = prove_positive(X + R(1, 3), UNIT).nodes
    assert Fraction(1, 3) * Fraction(65500, 65536) < leaf.lower < Fraction(1, 3)
    assert leaf.lower.denominator <= 2**20
    (leaf,) = prove_positive(X + R(1, 3), UNIT, bound=R(1, 4)).nodes
    assert Fraction(1, 4) < leaf.lower < Fraction(1, 3)
    assert leaf.lower - Fraction(1, 4) > Fraction(1, 12) * Fraction(65500, 65536)
    (leaf,) = prove_positive(X, UNIT, strict=False).nodes
    assert leaf.lower == 0


def test_both_signs_pairs_each_expression_with_its_unexpanded_negative():
    signed = both_signs([X + 1, Y])
    assert signed[0] == X + 1 and signed[2:] == [Y, -Y]
    assert signed[1].args == (-1, X + 1)


def _one_leaf(expr, box, lower, bound=0):
    """A certificate of one natural leaf, as a forger would write it."""
    stated = statement([expr], box, bound, True)
    body = {"format": FORMAT, "statement": stated, "sha256": digest(stated), "outcome": "PROVED"}
    body |= {"precision": 128, "nodes": [["leaf", "natural", 0, lower]], "point": None}
    return json.dumps({**body, "seal": digest(body)})


def test_the_checker_grants_a_leaf_no_more_than_it_can_confirm():
    assert verify(_one_leaf(X + 1, UNIT, "1"), X + 1, UNIT).outcome is PROVED
    for expr, lower in ((R(1, 3) + 0 * X, "1/3"), (X + 1, "1000000000001/1000000000000")):
        checked = verify(_one_leaf(expr, UNIT, lower), expr, UNIT)
        assert checked.outcome is UNDECIDED and "can be confirmed" in checked.reason
        assert checked.leaves == 0 and math.isnan(checked.margin)


def test_corners_are_tried_up_to_ten_free_sides():
    names = symbols("x0:11", real=True)
    total = sum(names) - R(1, 100)
    refuted = prove_positive(total, Box({name: (0, 1) for name in names[:10]} | {names[10]: (0, 0)}))
    assert (refuted.outcome, refuted.boxes) == (REFUTED, 0)
    assert prove_positive(total, Box({name: (0, 1) for name in names})).boxes > 0
