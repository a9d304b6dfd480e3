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
from proofs_check.core.terms import (
    PI,
    Malformed,
    Term,
    absolute,
    atan,
    both,
    cos,
    either,
    eq,
    exp,
    implies,
    log,
    ne,
    sin,
    sqrt,
    tanh,
)
from proofs_check.language.coq import RESERVED, coq_name, document, proposition
from proofs_check.language.notation import (
    ball,
    choice,
    define,
    exists,
    fold,
    iff,
    largest,
    least,
    limit,
    positive,
    real,
    sequence,
    statement,
    supremum,
    total,
    unique_minimiser,
    unique_zero,
    var,
    when,
    whole,
)

ROOT = Path(__file__).resolve().parents[3]
n, m, i, j, k = (var(name) for name in "nmijk")
a, b, s, u, w, x, y = (var(name) for name in ("a", "b", "s", "u", "w", "x", "y"))


def softmax():
    weight = define("weight", [s, i, n], exp(s[i]) / total(j, 1, n, exp(s[j])))
    sums = eq(total(i, 1, n, Term("call", "weight", s, i, n)), 1)
    return statement("softmax-sums-to-one", for_all=[whole("n", 1), sequence("s", n)], says=sums, using=[weight])


def alibi():
    weight = exp(-a * m) / total(k, 0, n, exp(-a * k))
    closed = exp(-a * m) * (1 - exp(-a)) / (1 - exp(-a * (n + 1)))
    return statement("alibi_weight", for_all=[whole("n", 1), whole("m", 1, n), positive("a")], says=eq(weight, closed))


def slope():
    half = Fraction(1, 2)
    return statement("softmax_slope", for_all=[real("w", 0, 1)], says=supremum(w * (1 - w), Fraction(1, 4), {w: half}))


def cold():
    value = 1 / (1 + exp(-var("T")))
    return statement("cold_limit", for_all=[real("T", 1)], says=limit(value, 1, var("T"), 1))


def larger():
    share = exp(a) / (exp(a) + exp(b))
    return statement("larger_share", for_all=[real("a"), real("b")], says=iff(share > Fraction(1, 2), b < a))


FIVE = [softmax(), alibi(), slope(), cold(), larger()]

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
    functions = statement(
        "functions", for_all=[real("a", 0), real("b")], says=total(i, 1, 2, i) + sum(terms[1:], PI) <= a
    )
    parts = either(log(1 + a) <= sqrt(a), (2 + a) ** -2 < Fraction(1, 10), eq(a, c))
    ranges = [real("a", 0, 1, open="high"), choice("c", 2, 3), choice("p", Fraction(1, 2), 1)]
    folds = [fold(kind, i, 1, n, fold("prod", j, i, n + 1, x[i, j])) for kind in ("max", "min")]
    placed = x[least(largest(i, 1), n), when(i < n, i + 1, 1) ** 1 * 1]
    inside = total(i, 1, n, v[i] ** 2) <= 4
    system = unique_zero([x**2 + y**2 - 1, x - y], {"x": (0, 1), "y": (0, 1)})
    return [
        functions,
        statement("formulas", for_all=[*ranges, real("t", -p, c)], given=[t < c], says=parts),
        statement("matrices", for_all=[whole("n", 1), matrix, whole("i", 1, n)], says=folds[1] + placed <= folds[0]),
        statement("balls", for_all=[whole("n"), ball("v", n, 2)], given=[n >= 1], says=inside),
        statement("approached", for_all=[positive("a"), real("u", 0, 1, open="low")],
                  says=supremum(1 - a, 1, {a: u}, u, 1, attained=False)),
        statement("witness", for_all=[real("a"), real("b", a)], says=exists({b: a + 1}, a < b)),
        statement("least", for_all=[real("a"), real("b")], says=unique_minimiser((a - b) ** 2, {a: b})),
        statement("zero", for_all=[real("x", 0), real("y", 0)], says=system),
        statement("shadowed", for_all=[whole("n", 1), real("i"), sequence("k", n, i)],
                  says=total(i, 1, n, k[i]) >= i * n),
        from_data({**statement("wholes", for_all=[whole("n", 1), sequence("s", n, 0)], says=s[n] >= 0).to_json(),
                   "for_all": [whole("n", 1).to_json(), Variable("s", sizes=(n,), low=0 * n, whole=True).to_json()]}),
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
    for seed in "12":
        run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=ROOT,
                             env={**os.environ, "PYTHONHASHSEED": seed})  # fmt: skip
        assert run.stdout == document(FIVE + everything())


def test_a_bound_name_captures_nothing():
    known = statement("c", for_all=[whole("n", 1), real("k"), sequence("s", n, k)], says=total(k, 1, n, s[k]) >= k)
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
    text = proposition(statement("z", for_all=[real("x", 0)], says=unique_zero([x**2 - 2], {"x": (1, 2)})))
    assert "(exists x : R, (1 < x /\\ x < 2 /\\ ((powerRZ x 2%Z) + (-2)) = 0))" in text
    assert re.search(r"forall x' : R, 0 <= x' ->.*x = x'\)", text, re.DOTALL)


def awkward():
    """Variables with the names of keywords, of what is printed and of what it is defined by; a name twice primed."""
    names = [*sorted(RESERVED), "folded", "length_of", "Rplus", "nat", "O", "S", "n''", "n'", "o", "IF"]
    says = total(var("exp'"), 1, 2, fold("max", var("Z"), 1, var("exp'"), exp(PI) + var("Rmax"))) > var("n'")
    return statement("forall", for_all=[real(name) for name in names], says=says)


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
    ratios = [statement(name, for_all=[known], says=eq(x / x, 1))
              for name, known in (("undefined", real("x")), ("defined", positive("x")))]  # fmt: skip
    text = document([*FIVE, *everything(), awkward(), *ratios])
    (tmp_path / "statements.v").write_text(text + PROOFS, encoding="utf-8")
    run = subprocess.run(["coqc", "-q", "statements.v"], cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert run.returncode == 0, run.stdout + run.stderr
