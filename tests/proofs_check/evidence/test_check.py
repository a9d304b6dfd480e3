"""The second checker accepts what is proved and rejects each of many hundred corrupted certificates."""

import ast
import json
import random
from fractions import Fraction
from pathlib import Path

import mpmath
import pytest
import sympy
from flint import ctx

from proofs_check.evidence import certify, check, enclose
from tests.theory.lowering.ball_fuzz import (
    DIGITS,
    NAMES,
    SLACK,
    exact_end,
    expression,
    random_box,
    random_points,
    rational,
)
from theory.lowering.ball import BallFunction, Box, Outcome

X, Y = sympy.symbols("x y", real=True)
BOX = Box({X: (0, 1), Y: (0, 1)})
CLAIMS = [
    ([X**2 + Y**2 - 2 * X * Y + sympy.Rational(1, 100)], BOX),
    ([sympy.exp(X - Y) - X + Y - sympy.Rational(19, 20)], BOX),
    ([X - sympy.Rational(1, 3), sympy.Rational(1, 3) - X, X + Y - sympy.Rational(1, 4)], BOX),
    (certify.both_signs([X**2 + Y**2 - 1, X - Y + 2]), Box({X: (-2, 2), Y: (-2, 2)})),
]
TEXTS = [certify.prove_any_positive(exprs, box).to_json() for exprs, box in CLAIMS]
REFUTED = (X**2 - Y, Box({X: (0, 1), Y: ("1/8", 1)}))
REFUTED_TEXT = certify.prove_positive(*REFUTED).to_json()


def resealed(body):
    """The corrupted certificate as a forger would hand it in, with a fitting seal."""
    body = {key: value for key, value in body.items() if key != "seal"}
    return json.dumps({**body, "seal": check.digest(body)})


def leaves(body):
    return [i for i, node in enumerate(body["nodes"]) if node[0] == "leaf"]


def second(body):
    """Leaves that name the second expression, or all where none does."""
    return [i for i in leaves(body) if body["nodes"][i][2] == 1] or leaves(body)


def splits(body):
    return [i for i, node in enumerate(body["nodes"]) if node[0] == "split"]


def drop_a_node(body, rng):
    del body["nodes"][rng.randrange(len(body["nodes"]))]


def double_a_leaf(body, rng):
    at = rng.choice(leaves(body))
    body["nodes"].insert(at, list(body["nodes"][at]))


def move_a_split_out_of_its_box(body, rng):
    body["nodes"][rng.choice(splits(body))][2] = str(rng.choice([-3, 3, Fraction(-7, 2), Fraction(9, 2)]))


def cut_off_a_subtree(body, rng):
    # One leaf in place of the whole tree below a split, with a bound that no argument reaches there.
    body["nodes"] = [["leaf", "natural", 0, "1/1000000"]]


def raise_a_bound(body, rng):
    leaf = body["nodes"][rng.choice(leaves(body))]
    leaf[3] = str(Fraction(leaf[3]) * 2 + 9)


def flip_the_sign_of_a_bound(body, rng):
    leaf = body["nodes"][rng.choice(leaves(body))]
    leaf[3] = str(-Fraction(leaf[3]))


def enlarge_the_box(body, rng):
    body["statement"]["box"][rng.randrange(2)][rng.choice([1, 2])] = str(rng.choice([-9, 17]))


def enlarge_the_box_and_its_hash(body, rng):
    enlarge_the_box(body, rng)
    body["sha256"] = check.digest(body["statement"])


def change_the_expression(body, rng):
    texts = body["statement"]["any_of"]
    texts[0] = rng.choice([f"Mul(Integer(-1), {texts[0]})", "Symbol('x')", "Integer(1)"])
    body["sha256"] = check.digest(body["statement"])


def lose_a_field(body, rng):
    del body[rng.choice([key for key in body if key != "seal"])]


def break_a_node(body, rng):
    body["nodes"][rng.randrange(len(body["nodes"]))] = rng.choice([None, [], 7, "leaf", ["leaf"], ["split", "x"], {}])


def replace_the_nodes(body, rng):
    body["nodes"] = rng.choice([[], None, 5, "", {}])


# of a leaf, or a split, the part of this number becomes one of these
PARTS = [
    (leaves, 1, ["trust_me", "Natural", "", None, 3]),
    (second, 2, [99, -1, "0", None, 1.0]),
    (second, 2, [True]),
    (leaves, 3, ["0", 0.25, "0.25", "1e-3", "inf", "nan", None, [1]]),
    (splits, 1, ["w", "", 0, None]),
]
FIELDS = [("outcome", ["REFUTED", "UNDECIDED", "proved", None]), ("sha256", ["0" * 64]), ("proved", [True])]
CLAIMED = [("relation", [">=", "<", "!="]), ("bound", ["-1", "1/7", "5"])]


def replace_a_part(of, number, values):
    def forgery(body, rng):
        body["nodes"][rng.choice(of(body))][number] = rng.choice(values)

    return forgery


def replace_a_field(name, values):
    return lambda body, rng: body.update({name: rng.choice(values)})


def change_the_claim(name, values):
    def forgery(body, rng):
        body["statement"][name] = rng.choice(values)
        body["sha256"] = check.digest(body["statement"])

    return forgery


FORGERIES = [
    drop_a_node, double_a_leaf, move_a_split_out_of_its_box, cut_off_a_subtree, raise_a_bound, flip_the_sign_of_a_bound,
    enlarge_the_box, enlarge_the_box_and_its_hash, change_the_expression, lose_a_field, break_a_node, replace_the_nodes,
    *(replace_a_part(*given) for given in PARTS), *(replace_a_field(*given) for given in FIELDS),
    *(change_the_claim(*given) for given in CLAIMED),
]  # fmt: skip


def test_forged_certificates_with_a_fitting_seal_are_all_rejected():
    rng, tried, accepted = random.Random(7), 0, []
    for forgery in FORGERIES:
        for (exprs, box), text in zip(CLAIMS, TEXTS, strict=True):
            for _ in range(6):
                body = json.loads(text)
                forgery(body, rng)
                checked = check.verify(resealed(body), exprs, box)
                tried += 1
                if checked.outcome is not Outcome.UNDECIDED or checked.margin == checked.margin:
                    accepted.append(body)
    print(f"{tried} forged certificates, {len(accepted)} accepted")
    assert tried >= 400 and accepted == []


def move_a_split(body, rng):
    node = body["nodes"][rng.choice(splits(body))]
    node[2] = str(Fraction(node[2]) + Fraction(rng.choice([-1, 1]), 1000))


def test_edited_certificates_are_all_rejected_by_the_seal():
    rng, tried, accepted = random.Random(8), 0, []
    for (exprs, box), text in zip(CLAIMS, TEXTS, strict=True):
        for _ in range(60):
            at = rng.randrange(len(text))
            edited = rng.choice([text[:at], text[:at] + rng.choice("0123456789xX-/") + text[at + 1 :], text[at:]])
            if edited in (text, ""):
                continue
            tried += 1
            if check.verify(edited, exprs, box).outcome is not Outcome.UNDECIDED:
                accepted.append(edited[max(0, at - 10) : at + 10])
    print(f"{tried} edited certificates, {len(accepted)} accepted")
    assert tried >= 200 and accepted == []


def test_split_moved_inside_its_box_proves_only_what_the_leaves_still_reach():
    # With a fitting seal such a tree is an honest proof or it is rejected; both happen, neither gives a wrong margin.
    rng, outcomes = random.Random(9), set()
    for _ in range(60):
        body = json.loads(TEXTS[0])
        move_a_split(body, rng)
        checked = check.verify(resealed(body), *CLAIMS[0])
        outcomes.add(checked.outcome)
        assert checked.outcome is not Outcome.REFUTED and not checked.margin > 0.01
    assert Outcome.UNDECIDED in outcomes


@pytest.mark.parametrize(
    "point",
    [{"x": "1", "y": "1/8"}, {"x": "0"}, {"x": "0", "y": "2"}, {"x": "0", "y": "1/2", "z": "0"}, {"x": 0.0, "y": "1"}],
    ids=["no failure there", "too few names", "outside", "too many names", "a float"],
)
def test_wrong_counterexample_is_rejected(point):
    body = json.loads(REFUTED_TEXT)
    body["point"] = point
    assert check.verify(resealed(body), *REFUTED).outcome is Outcome.UNDECIDED


def test_counterexample_between_integers_is_rejected():
    n = sympy.Symbol("n", integer=True)
    expr, box = (n - sympy.Rational(1, 2)) ** 2 - 1, Box({n: (0, 2)})
    body = json.loads(certify.prove_positive(expr, box).to_json())
    assert check.verify(resealed(body), expr, box).outcome is Outcome.REFUTED
    body["point"] = {"n": "1/2"}
    assert "domain" in check.verify(resealed(body), expr, box).reason


@pytest.mark.parametrize(
    ("exprs", "box", "more"),
    [
        (CLAIMS[1][0], BOX, {}),
        (CLAIMS[0][0], Box({X: (0, 2), Y: (0, 1)}), {}),
        (CLAIMS[0][0], Box({Y: (0, 1), X: (0, 1)}), {}),
        (CLAIMS[0][0], BOX, {"bound": "1/1000"}),
        (CLAIMS[0][0], BOX, {"strict": False}),
        ([CLAIMS[0][0][0] + sympy.Rational(1, 101)], BOX, {}),
    ],
)
def test_certificate_for_another_claim_is_rejected(exprs, box, more):
    assert "another claim" in check.verify(TEXTS[0], exprs, box, **more).reason


@pytest.mark.parametrize("kind", ["monotone", "mean_value"])
def test_gradient_argument_is_rejected_for_a_rough_expression(kind):
    step = [sympy.Piecewise((-1, X < 0), (1, True))]
    box = Box({X: (-1, 1)})
    claim = check.statement(step, box, 0, True)
    body = {"format": check.FORMAT, "statement": claim, "sha256": check.digest(claim), "outcome": "PROVED"}
    body |= {"precision": 128, "nodes": [["leaf", kind, 0, "1/2"]], "point": None}
    assert "does not apply" in check.verify(resealed(body), step, box).reason


@pytest.mark.parametrize("text", ["", "{}", "[]", "null", "3", '"PROVED"', "[" * 100_000, '{"seal": NaN}'])
def test_file_that_is_no_certificate_is_rejected(text):
    assert check.verify(text, X, BOX).reason.startswith("rejected")


def test_checker_shares_neither_search_nor_printer():
    for module in (check, enclose):
        names = set()
        for node in ast.walk(ast.parse(Path(module.__file__).read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom):
                names.add(node.module)
            elif isinstance(node, ast.Import):
                names |= {alias.name for alias in node.names}
        searches = {"proofs_check.evidence.certify", "proofs_check.evidence.certificate"}
        assert not names & {*searches, "theory.lowering.ball", "theory.lowering.numeric"}


def test_checker_evaluates_as_the_printer_and_mpmath_do():
    rng, unknown = random.Random(10), 0
    with mpmath.workdps(DIGITS):
        for _ in range(300):
            (expr, reference), box = expression(rng, rng.randint(1, 3)), random_box(rng)
            with ctx.workprec(check.PRECISION):
                region = {name: (low, high) for name, low, high in box.sides}
                try:
                    low, high = enclose.enclose(expr, check._environment(region))
                except enclose.Unknown:
                    unknown += 1
                    continue
            with ctx.workprec(53):
                printed = BallFunction([expr], NAMES).on(box)[0]
            # At a higher precision the intervals of the checker lie in those of the printer (but arb's sine of a wide
            # ball, which both use, moves by 1e-9).
            loose = mpmath.mpf(10) ** -6 * (1 + abs(exact_end(low))) if expr.has(sympy.sin, sympy.cos) else 0
            assert exact_end(printed[0]) <= exact_end(low) + loose and exact_end(high) - loose <= exact_end(printed[1])
            for point in random_points(rng, box):
                value = reference([rational(coordinate) for coordinate in point])
                slack = SLACK * (1 + abs(value))
                assert exact_end(low) - slack <= value <= exact_end(high) + slack
    assert unknown <= 30
