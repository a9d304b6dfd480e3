"""Statements printed as propositions of Coq: every kind has a counterpart, and coqc, where there is one, takes them."""

import os
import re
import shutil
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import pytest

from proofs_check.core.domain import Variable
from proofs_check.core.statement import from_data
from proofs_check.core.terms import Malformed
from proofs_check.language import (
    PI,
    absolute,
    atan,
    ball,
    both,
    call,
    choice,
    cos,
    define,
    either,
    eq,
    exists,
    exp,
    fold,
    iff,
    implies,
    largest,
    least,
    limit,
    log,
    ne,
    positive,
    real,
    sequence,
    sin,
    sqrt,
    supremum,
    tanh,
    total,
    unique_minimiser,
    unique_zero,
    var,
    when,
    whole,
)
from proofs_check.language.coq import RESERVED, coq_name, document, proposition
from tests.proofs_check.core.writing import stated

ROOT = Path(__file__).resolve().parents[3]
n, m, i, j, k = (var(name) for name in "nmijk")
a, b, s, u, w, x, y = (var(name) for name in ("a", "b", "s", "u", "w", "x", "y"))


WEIGHT = define("weight", [s, i, n], exp(s[i]) / total(j, 1, n, exp(s[j])))
HALF, SIZE, PLANE = Fraction(1, 2), whole("n", 1), [real("a"), real("b")]
FIVE = [
    stated("softmax-sums-to-one", [SIZE, sequence("s", n)], eq(total(i, 1, n, call("weight", s, i, n)), 1),
           known=[WEIGHT]),
    stated("alibi_weight", [SIZE, whole("m", 1, n), positive("a")],
           eq(exp(-a * m) / total(k, 0, n, exp(-a * k)), exp(-a * m) * (1 - exp(-a)) / (1 - exp(-a * (n + 1))))),
    stated("softmax_slope", real("w", 0, 1), supremum(w * (1 - w), Fraction(1, 4), {w: HALF})),
    stated("cold_limit", real("T", 1), limit(1 / (1 + exp(-var("T"))), 1, var("T"), 1)),
    stated("larger_share", PLANE, iff(exp(a) / (exp(a) + exp(b)) > HALF, b < a)),
]  # fmt: skip

SOFTMAX = """\
Definition softmax_sums_to_one : Prop :=
  (* conclusion *) (forall n : Z, 1 <= (IZR n) ->
    forall s : Z -> R,
    (sum_over 1%Z n (fun i : Z => ((exp (s i)) / (sum_over 1%Z n (fun j : Z => (exp (s j))))))) = 1)
"""
SUPREMUM = """\
Definition softmax_slope : Prop :=
  (* bound *) (forall w : R, 0 <= w -> w <= 1 ->
    (w * (1 + ((-1) * w))) <= (1 / 4))
  /\\ (* attained *) (((0 <= (1 / 2) /\\ (1 / 2) <= 1) /\\ ((1 / 2) * (1 + ((-1) * (1 / 2)))) = (1 / 4))).
"""


def everything():
    """Statements that need every kind of term, of variable and of form that the five do not."""
    c, p, t, v = (var(name) for name in "cptv")
    matrix = sequence("x", (n, n + 1), -1, 1)
    picked = when(both(a < b, implies(ne(a, 0), b <= 1)), a, b)
    terms = [PI, sin(a), cos(a), tanh(a), atan(a), absolute(a), largest(a, b, 0), least(a, b), picked, (a + 9) ** 3]
    parts = either(log(1 + a) <= sqrt(a), (2 + a) ** -2 < Fraction(1, 10), eq(a, c))
    ranges = [real("a", 0, 1, open="high"), choice("c", 2, 3), choice("p", HALF, 1), real("t", -p, c)]
    folds = [fold(kind, i, 1, n, fold("prod", j, i, n + 1, x[i, j])) for kind in ("max", "min")]
    placed = x[least(largest(i, 1), n), when(i < n, i + 1, 1) ** 1 * 1]
    system = unique_zero([x**2 + y**2 - 1, x - y], {"x": (0, 1), "y": (0, 1)})
    wholes = stated("wholes", [SIZE, sequence("s", n, 0)], s[n] >= 0).to_json()
    return [
        stated("functions", [real("a", 0), real("b")], total(i, 1, 2, i) + sum(terms[1:], PI) <= a),
        stated("formulas", ranges, parts, t < c),
        stated("matrices", [SIZE, matrix, whole("i", 1, n)], folds[1] + placed <= folds[0]),
        stated("balls", [whole("n"), ball("v", n, 2)], total(i, 1, n, v[i] ** 2) <= 4, n >= 1),
        stated("approached", [positive("a"), real("u", 0, 1, open="low")],
               supremum(1 - a, 1, {a: u}, u, 1, attained=False)),
        stated("witness", [real("a"), real("b", a)], exists({b: a + 1}, a < b)),
        stated("least", PLANE, unique_minimiser((a - b) ** 2, {a: b})),
        stated("zero", [real("x", 0), real("y", 0)], system),
        stated("shadowed", [SIZE, real("i"), sequence("k", n, i)], total(i, 1, n, k[i]) >= i * n),
        from_data({**wholes, "for_all": [SIZE.to_json(),
                                         Variable("s", sizes=(n,), low=0 * n, whole=True).to_json()]}),
    ]  # fmt: skip


def bound(text):
    """The names that a printed proposition binds."""
    return re.findall(r"(?:forall|exists|fun) (\S+) :", text)


def test_the_text_of_the_softmax_statement():
    text = proposition(FIVE[0])
    assert text.startswith(SOFTMAX)
    # The size of s, its index in both sums, and a divisor that is not zero.
    assert text.count("(* defined *)") == 4 and "    0 <= (IZR n))" in text
    assert "(sum_over 1%Z n (fun j : Z => (exp (s j)))) <> 0)" in text


def test_the_text_of_the_attained_supremum():
    assert proposition(FIVE[2]) == SUPREMUM


@pytest.mark.parametrize("known", FIVE, ids=lambda known: known.name)
def test_names_are_well_formed_and_parentheses_match(known):
    text = proposition(known)
    assert re.match(r"Definition [A-Za-z][A-Za-z0-9_']* : Prop :=\n", text) and text.endswith(".\n")
    assert all(re.fullmatch(r"[A-Za-z][A-Za-z0-9_]*'*", name) for name in bound(text))
    assert text.count("(") == text.count(")") and text == proposition(from_data(known.to_json()))


def test_the_text_does_not_depend_on_the_run():
    program = "import tests.proofs_check.language.test_coq as t; print(t.document(t.FIVE + t.everything()), end='')"
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=ROOT,
                         env={**os.environ, "PYTHONHASHSEED": "1"})  # fmt: skip
    assert run.stdout == document(FIVE + everything())


def test_a_bound_name_captures_nothing():
    known = stated("c", [SIZE, real("k"), sequence("s", n, k)], total(k, 1, n, s[k]) >= k)
    text = proposition(known)
    assert "(forall k' : Z, 1 <= (IZR k') -> (IZR k') <= (IZR n) -> k <= (s k'))" in text
    assert "k <= (sum_over 1%Z n (fun k : Z => (s k)))" in text  # on the left k is real, inside it is the index


def test_reserved_names_get_a_prime_and_stay_apart():
    names = ["PI", "PI'", "forall", "forall'", "x", "x'", "R", "ln", "lne", "mod", "sum_over"]
    printed = [coq_name(name) for name in names]
    assert printed == ["PI'", "PI''", "forall'", "forall''", "x", "x'", "R'", "ln'", "lne", "mod'", "sum_over'"]
    assert len(set(printed)) == len(names)
    assert coq_name("3-a b") == "s_3_a_b"


def test_two_statements_of_one_name_are_refused():
    with pytest.raises(Malformed, match="one name"):
        document([FIVE[3], FIVE[3]])


def test_a_unique_zero_says_that_there_is_one():
    """The obligations alone would only say that there is none elsewhere."""
    text = proposition(stated("z", real("x", 0), unique_zero([x**2 - 2], {"x": (1, 2)})))
    assert "(exists x : R, (1 < x /\\ x < 2 /\\ ((powerRZ x 2%Z) + (-2)) = 0))" in text
    assert re.search(r"forall x' : R, 0 <= x' ->.*x = x'\)", text, re.DOTALL)


def awkward():
    """Variables with the names of keywords, of what is printed and of what it is defined by; a name twice primed."""
    names = [*sorted(RESERVED), "folded", "length_of", "Rplus", "nat", "O", "S", "n''", "n'", "o", "IF"]
    says = total(var("exp'"), 1, 2, fold("max", var("Z"), 1, var("exp'"), exp(PI) + var("Rmax"))) > var("n'")
    return stated("forall", [real(name) for name in names], says)


def test_no_reserved_name_is_bound():
    known = awkward()
    names = set(bound(proposition(known).partition("(* defined *)")[0]))
    assert not RESERVED & names and len(names) == len(known.variables) + 1  # and exp'', an index


PROOFS = """
Goal softmax_slope.
Proof. split; [intros w low high; pose proof (pow2_ge_0 (w - 1 / 2)); lra | lra]. Qed.
Goal ~ undefined.
Proof. intros [_ defined]. apply (defined 0). reflexivity. Qed.
Goal defined.
Proof. split; intros x above; [field; lra | lra]. Qed.
Goal sum_over 1 3 IZR = 6 /\\ prod_over 2 4 IZR = 24 /\\ sum_over 3 1 IZR = 0 /\\ prod_over 3 1 IZR = 1.
Proof. cbv [sum_over prod_over length_of]. simpl. lra. Qed.
Goal max_over 2 3 IZR = 3 /\\ min_over 2 3 IZR = 2.
Proof. cbv [max_over min_over length_of Rmax Rmin]. simpl. repeat destruct Rle_dec; lra. Qed.
"""


@pytest.mark.skipif(shutil.which("coqc") is None, reason="there is no coqc")
def test_coq_takes_every_statement_and_definedness_is_part_of_it(tmp_path):
    ratios = [stated("undefined", real("x"), eq(x / x, 1)), stated("defined", positive("x"), eq(x / x, 1))]
    text = document([*FIVE, *everything(), awkward(), *ratios])
    (tmp_path / "statements.v").write_text(text + PROOFS, encoding="utf-8")
    run = subprocess.run(["coqc", "-q", "statements.v"], cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert run.returncode == 0, run.stdout + run.stderr
