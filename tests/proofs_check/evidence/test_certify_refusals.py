"""What the proof core refuses or leaves undecided: sides that symbols deny, what is undefined, what is too large."""

import subprocess
import sys

import pytest
from sympy import Abs, And, Eq, Max, Not, Or, Piecewise, Rational, Symbol, log, sqrt, symbols

from proofs_check.evidence.area import positive_area
from proofs_check.evidence.certify import prove_positive
from proofs_check.evidence.check import verify
from proofs_check.evidence.krawczyk import unique_zero
from theory.lowering.box import Box, Outcome, exact, rational, to_ball

x, y = symbols("x y", real=True)
THIRD = Rational(1, 3)

DENIED = {
    "extended_positive": (-1, 1), "positive": (0, 1), "extended_nonnegative": (-1, 1), "nonzero": (-1, 1),
    "extended_nonzero": (-1, 1), "negative": (-1, 0), "nonpositive": (-1, 1), "even": (1, 2), "odd": (1, 2),
    "prime": (2, 3), "composite": (4, 5), "irrational": (1, 2), "imaginary": (0, 1), "infinite": (0, 1),
    "transcendental": (0, 1),
}  # fmt: skip
FALSE = {"zero": (-1, 1), "real": (0, 1), "integer": (0, 1), "extended_real": (0, 1)}


@pytest.mark.parametrize(
    ("symbol", "side"),
    [(Symbol("s", **{name: True}), side) for name, side in DENIED.items()]
    + [(Symbol("s", **{name: False}), side) for name, side in FALSE.items()],
    ids=[*DENIED, *(f"not {name}" for name in FALSE)],
)
def test_a_side_that_the_symbol_denies_is_refused_by_name_and_by_symbol(symbol, side):
    with pytest.raises(ValueError, match="symbol s is assumed"):
        Box({symbol: side})
    with pytest.raises(ValueError, match="symbol s is assumed"):
        prove_positive(symbol + 5, Box({"s": side}))


@pytest.mark.parametrize(
    "assumption", ["real", "finite", "positive", "extended_positive", "integer", "rational", "nonzero"]
)
def test_a_side_that_the_symbol_grants_is_taken(assumption):
    symbol = Symbol("s", **{assumption: True})
    assert prove_positive(symbol, Box({symbol: (1, 2)})).outcome is Outcome.PROVED


def test_an_assumption_that_has_simplified_the_claim_away_is_still_held_against_the_side():
    p = Symbol("p", positive=True)
    assert sqrt(p**2) / p == 1
    with pytest.raises(ValueError, match="assumed positive"):
        prove_positive(sqrt(p**2) / p, Box({p: (-1, 1)}))


def test_a_whole_number_is_no_zero_of_real_equations():
    k = Symbol("k", integer=True)
    with pytest.raises(ValueError, match="no whole number"):
        unique_zero([2 * k - 3], Box({k: (0, 3)}))


def test_nothing_fails_where_nothing_is_defined():
    proof = prove_positive(log(x - THIRD - Rational(1, 10**60)), Box({x: (THIRD, THIRD)}), bound=-10)
    assert proof.outcome is Outcome.UNDECIDED


def test_a_branch_whose_condition_is_not_defined_proves_nothing():
    expr = Piecewise((1, log(x) < 0), (2, True))
    assert prove_positive(expr, Box({x: (-2, -1)})).outcome is Outcome.UNDECIDED
    for condition in (And(log(x) < 0, x < 0), Or(log(x) < 0, x < 0), Not(Eq(log(x), 1))):
        piece = Piecewise((1, condition), (2, True), evaluate=False)
        assert prove_positive(piece, Box({x: (-2, -1)}), budget=50).outcome is Outcome.UNDECIDED
    certificate = prove_positive(Piecewise((1, x < 0), (2, True)), Box({x: (-2, -1)})).to_json()
    assert verify(certificate, expr, Box({x: (-2, -1)})).outcome is Outcome.UNDECIDED


def test_the_second_checker_leaves_such_a_branch_undecided_by_itself():
    from proofs_check.evidence.enclose import Unknown, enclose

    expr = Piecewise((1, log(x) < 0), (2, True))
    with pytest.raises(Unknown, match="not be defined"):
        enclose(expr, {"x": (to_ball(-2), to_ball(-1))})


@pytest.mark.parametrize("expr", [Piecewise((1, x < Rational(1, 2)), (-1, True)), Abs(x) - 1, Max(x, y)])
def test_an_area_needs_a_smooth_expression(expr):
    with pytest.raises(ValueError, match="differentiable"):
        positive_area(expr, x, y, 2)


LARGE = """
import sympy as sp
from proofs_check.evidence.certify import prove_positive
from proofs_check.evidence.check import verify
from theory.lowering.box import Box, Outcome
x = sp.Symbol('x', real=True)
for e, side in (
    (sp.exp(-sp.exp(x)), (0, 60)), (sp.exp(sp.exp(x)), (0, 60)), (sp.exp(-x), (0, 20000)), (x**5000, (1, 2)),
    (sp.exp(1/x), (-1, 0)), (x, (1, 10**25)),
):
    box = Box({x: side})
    proof = prove_positive(e, box, budget=200)
    assert proof.outcome is not Outcome.REFUTED, e
    if proof.outcome is Outcome.PROVED:
        assert verify(proof.to_json(), e, box).outcome is Outcome.PROVED, e
    print(e)
"""


def test_numbers_of_any_size_end_in_a_verdict():
    """In a process of its own: a number that flint cannot write as a fraction used to abort it."""
    done = subprocess.run([sys.executable, "-c", LARGE], capture_output=True, text=True, timeout=120)
    assert (done.returncode, len(done.stdout.splitlines())) == (0, 6), done.stdout + done.stderr


def test_a_constant_that_nobody_could_read_back_is_refused_in_one_short_line():
    for value in ("1e9999", 10**9999, "1/" + "9" * 5000, "9" * 5000):
        with pytest.raises(ValueError) as caught:
            exact(value)
        assert len(str(caught.value)) < 120 and "\n" not in str(caught.value)
    with pytest.raises(ValueError, match="too long"):
        rational(to_ball(1).exp().mid() * to_ball(2) ** 7000)
    with pytest.raises(ValueError, match="not one finite number"):
        rational(to_ball(0, 1))
