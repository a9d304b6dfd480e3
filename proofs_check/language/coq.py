"""Statements as propositions of Coq: what a statement says, printed for another kernel. Nothing is proved here.

In Coq 1/0 and ln 0 are some numbers or other, so every condition of definedness is part of the proposition. A whole
number is a Z, and an IZR of one among the real numbers; a sequence is a function of Z with premises on its range 1..n.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import reduce

from proofs_check.core.domain import Sequent, Variable, needed, taken
from proofs_check.core.statement import Form, Statement, obligations
from proofs_check.core.terms import ONE, ZERO, Malformed, Term, both, eq, fresh, substitute
from proofs_check.language.notation import total

PREAMBLE = """\
Require Import Reals ZArith Lra ClassicalDescription.
Open Scope R_scope.

(* op (.. (op start (f low)) ..) (f (low + count - 1)) *)
Fixpoint folded (op : R -> R -> R) (start : R) (f : Z -> R) (low : Z) (count : nat) : R :=
  match count with
  | O => start
  | S before => op (folded op start f low before) (f (low + Z.of_nat before)%Z)
  end.
Definition length_of (low high : Z) : nat := Z.to_nat (high - low + 1).
Definition sum_over (low high : Z) (f : Z -> R) : R := folded Rplus 0 f low (length_of low high).
Definition prod_over (low high : Z) (f : Z -> R) : R := folded Rmult 1 f low (length_of low high).
Definition max_over (low high : Z) (f : Z -> R) : R := folded Rmax (f low) f low (length_of low high).
Definition min_over (low high : Z) (f : Z -> R) : R := folded Rmin (f low) f low (length_of low high).
Definition choose {A : Type} (condition : Prop) (yes no : A) : A :=
  if excluded_middle_informative condition then yes else no.
"""
_FUNCTIONS = {"exp": "exp", "log": "ln", "sqrt": "sqrt", "abs": "Rabs", "sin": "sin", "cos": "cos", "tanh": "tanh",
              "atan": "atan"}  # fmt: skip
_SIGNS = {"add": "+", "mul": "*", "div": "/", "<": "<", "<=": "<=", "=": "=", "!=": "<>",
          "and": "/\\", "or": "\\/", "implies": "->", "iff": "<->"}  # fmt: skip
# No variable may be called like a keyword of Coq 8.16 with these libraries, or like what is printed here.
_KEYWORDS = (
    "Axiom CoFixpoint Definition Fixpoint Hypothesis Parameter Prop SProp Set Theorem Type Variable as at by cofix "
    "else end exists exists2 fix for forall fun if in let match mod return then using where with"
)
_PRINTED = "R Z IZR PI Rmax Rmin powerRZ choose sum_over prod_over max_over min_over"
RESERVED = {*_FUNCTIONS.values(), *_PRINTED.split(), *_KEYWORDS.split()}
_Sorts = Mapping[str, str]  # "Z" or "R": what a variable, or an item of a sequence, is


def document(statements: Iterable[Statement]) -> str:
    """A file of propositions. Raises Malformed where two get one name."""
    printed = list(statements)
    names = [coq_name(known.name) for known in printed]
    if len(set(names)) != len(names):
        raise Malformed("two statements have one name in Coq")
    return "\n".join([PREAMBLE, *map(proposition, printed)])


def proposition(statement: Statement) -> str:
    """`Definition name : Prop := ..`: obligations, the unique zero if it claims one, conditions of definedness."""
    says = statement.plain[2]
    parts = obligations(statement)
    printed = [(label, _sequent(part)) for label, part in parts]
    if isinstance(says, Form) and says.kind == "zero":
        printed += _zero(statement.plain[0], says)
    conditions = dict.fromkeys(condition for _, part in parts for condition in needed(part))
    printed += [("defined", _sequent(condition)) for condition in conditions]
    body = "\n  /\\ ".join(f"(* {label} *) ({text})" for label, text in printed)
    return f"Definition {coq_name(statement.name)} : Prop :=\n  {body}.\n"


def coq_name(name: str) -> str:
    """The name in Coq: other characters become _, and a reserved name gets one more prime, as x' does if x does."""
    plain_name = re.sub(r"[^A-Za-z0-9_']", "_", name)
    if not re.match("[A-Za-z]", plain_name):
        plain_name = "s_" + plain_name
    return plain_name + "'" if plain_name.rstrip("'") in RESERVED else plain_name


def _sequent(sequent: Sequent) -> str:
    """forall each variable, its domain -> each hypothesis -> goal"""
    sorts: dict[str, str] = {}
    lines = [_quantified(known, sorts, taken(sequent)) for known in sequent.variables]
    lines += [_formula(formula, sorts) + " ->" for formula in sequent.given]
    return "\n    ".join([*lines, _formula(sequent.goal, sorts)])


def _quantified(known: Variable, sorts: dict[str, str], used: frozenset[str]) -> str:
    """forall the variable, its domain ->; its sort is noted. The indices of its items get names that are not used."""
    sorts[known.name] = "Z" if known.whole else "R"
    text = f"forall {coq_name(known.name)} : {'Z -> ' * len(known.sizes)}{sorts[known.name]},"
    indices: list[Variable] = []
    for size in known.sizes:
        indices.append(Variable(fresh("k", used | {i.name for i in indices}), ONE, size, whole=True))
    places = [Term("var", index.name) for index in indices]
    item = Term("item", known.name, *places) if indices else Term("var", known.name)
    if (bounds := known.bounds(item)) and indices:
        inner = dict(sorts)
        head = " ".join(_quantified(index, inner, used) for index in indices)
        text += f" ({head} {_formula(both(*bounds), inner)}) ->"
    else:
        text += "".join(f" {_formula(bound, sorts)} ->" for bound in bounds)
    if known.radius is not None:
        square = total(places[0], 1, known.sizes[0], item**2)
        text += f" {_formula(square <= known.radius**2, sorts)} ->"
    return text


def _zero(variables: Sequence[Variable], says: Form) -> list[tuple[str, str]]:
    """In the box there is a common zero, and two are one: what Krawczyk's operator shows, not the obligations.

    A later equation need only be defined where the earlier ones vanish; there is an obligation for that.
    """
    sorts = {known.name: "R" for known in variables}
    inside = [part for name, low, high in says.box for part in (low < Term("var", name), Term("var", name) < high)]
    here = both(*inside, *(eq(value, ZERO) for value in says.terms))
    exists = " ".join(f"exists {coq_name(name)} : R," for name in sorts)
    used = taken(Sequent(tuple(variables), (), here))
    copies: dict[str, Term] = {}
    for name in sorts:
        copies[name] = Term("var", fresh(name, used | {copy.parts[0] for copy in copies.values()}))
    others = [replace(known.substituted(copies), name=copies[known.name].parts[0]) for known in variables]
    same = both(*(eq(Term("var", name), copy) for name, copy in copies.items()))
    only = Sequent((*variables, *others), (here, substitute(here, copies)), same)
    return [("a zero in the box", f"{exists} {_formula(here, sorts)}"), ("no other in the box", _sequent(only))]


def _formula(formula: Term, sorts: _Sorts) -> str:
    if formula.kind == "rel":
        relation, a, b = formula.parts
        return f"{_number(a, sorts)} {_SIGNS[relation]} {_number(b, sorts)}"
    return "(" + f" {_SIGNS[formula.kind]} ".join(_formula(part, sorts) for part in formula.parts) + ")"


def _whole(term: Term, sorts: _Sorts) -> str:
    """The term as a Z, with its scope: an index, or an end of a sum."""
    text = _number(term, sorts, "Z")
    return text if term.kind in ("var", "item") else text + "%Z"


def _number(term: Term, sorts: _Sorts, sort: str = "R") -> str:
    """The term as a real number, or as a Z, one word or in parentheses."""
    kind, parts = term.kind, term.parts
    if kind in ("var", "item"):
        name, *places = parts
        text = " ".join([coq_name(name), *(_whole(place, sorts) for place in places)])
        text = f"({text})" if places else text
        return text if sort == sorts[name] else f"(IZR {text})"
    if kind == "num" and (sort == "R" or parts[0].denominator == 1):
        return _constant(parts[0])
    if kind in ("add", "mul") or (kind == "div" and sort == "R"):
        return "(" + f" {_SIGNS[kind]} ".join(_number(part, sorts, sort) for part in parts) + ")"
    if kind in ("max", "min"):
        head = f"R{kind}" if sort == "R" else f"Z.{kind}"
        return reduce(lambda one, other: f"({head} {one} {other})", [_number(part, sorts, sort) for part in parts])
    if kind == "if":
        yes, no = (_number(part, sorts, sort) for part in parts[1:])
        return f"(choose ({_formula(parts[0], sorts)})%R {yes} {no})"
    if kind == "pow":
        base = _number(parts[0], sorts, sort)
        return f"(powerRZ {base} {_constant(Fraction(parts[1]))}%Z)" if sort == "R" else f"({base} ^ {parts[1]})"
    if sort == "Z":
        raise Malformed(f"a {kind} is no whole number by its shape")
    if kind == "pi":
        return "PI"
    if kind == "apply":
        return f"({_FUNCTIONS[parts[0]]} {_number(parts[1], sorts)})"
    if kind == "fold":
        operation, index, low, high, body = parts
        inner = _number(body, {**sorts, index: "Z"})
        return f"({operation}_over {_whole(low, sorts)} {_whole(high, sorts)} (fun {coq_name(index)} : Z => {inner}))"
    raise Malformed(f"a {kind} is not printed for Coq")


def _constant(value: Fraction) -> str:
    text = str(value) if value.denominator == 1 else f"{value.numerator} / {value.denominator}"
    return text if value >= 0 and value.denominator == 1 else f"({text})"
