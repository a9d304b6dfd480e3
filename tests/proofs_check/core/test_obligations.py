"""What each rule asks for, word for word, and what it refuses by itself, whatever proofs come with it.

A rule is run by a checker that writes down the sequents it is handed and follows no proof: a rule that asked for less
would be unsound, and a false proof that happens to fail elsewhere would not show it.
"""

import json
from fractions import Fraction
from inspect import signature
from pathlib import Path

import pytest

from proofs_check.core.domain import Variable, facts, needed
from proofs_check.core.printing import text
from proofs_check.core.rules import FAULTS, RULES, Checker, Rejected, known_in
from proofs_check.core.statement import from_data, obligations
from proofs_check.core.terms import ONE, ZERO, Term, num
from proofs_check.language import (
    absolute,
    ball,
    both,
    choice,
    each,
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
    sqrt,
    supremum,
    total,
    unique_minimiser,
    unique_zero,
    var,
    when,
    whole,
)
from tests.proofs_check.core.writing import q, stated, written

x, y, v, w, i, j, k, n, s = map(var, "xyvwijkns")
X, Y, N, S = real("x"), real("y"), whole("n", 1), sequence("s", n)
HALF = Fraction(1, 2)
IN = real("x", 2, 5)  # closed
OUT = real("x", 2, 5, open=True)
SUM = total(i, 1, n, s[i] / x)


class Asked(Checker):
    """Writes down what a rule asks for, and by which of its proofs."""

    def __init__(self):
        super().__init__(RULES)
        self.lines = []

    def prove(self, sequent, proof):
        self.lines.append(f"{proof}: {line(sequent)}")

    def every(self, sequents, proofs):
        self.lines += [f"{proofs}: {line(sequent)}" for sequent in sequents]


def line(sequent):
    domain = ", ".join(map(domain_of, sequent.variables))
    return f"{domain}; {', '.join(map(text, sequent.given))} |- {text(sequent.goal)}"


def domain_of(variable):
    if variable.values:
        return f"{variable.name} in {{{', '.join(map(str, variable.values))}}}"
    low, high = ("" if end is None else text(end) for end in (variable.low, variable.high))
    inside = f"{'(' if variable.low_open else '['}{low}, {high}{')' if variable.high_open else ']'}"
    size = "".join(f"[{text(size)}]" for size in variable.sizes)
    return f"{variable.name}{size} {'whole ' if variable.whole else ''}{inside}"


def asked(rule, sequent, *arguments):
    """What the rule asks for; terms are written down, and proofs that are left out are called by their names."""
    checker = Asked()
    wanted = [p.name for p in signature(RULES[rule]).parameters.values() if p.kind is p.POSITIONAL_OR_KEYWORD]
    left_out = ([] if name in ("zeros", "given") else name for name in wanted[2 + len(arguments) :])
    with known_in(sequent):
        RULES[rule](checker, sequent, *written(arguments), *left_out)
    return checker.lines


def about(*variables, given=()):
    """A sequent whose goal does not matter."""
    return q(x < 7, *variables, given=given)


P, Q, R = x < 1, x < 2, x < 3
BIGGEST, SMALLEST = largest(x, y, v), least(x, y, v)
V = real("v")
MOST, LEAST, COUNT = fold("max", i, 1, n, s[i]), fold("min", i, 1, n, s[i]), total(i, 1, n, 1)

LISTED, COUNTED, REAL, POSITIVE = about(X, N, S), about(X, N), about(X), about(positive("x"), N, S)
INNER, OUTER, FROM_2 = about(IN), about(OUT), real("x", 2)
LOG_IN, LOG_OUT = q(log(x) < x, IN), q(log(x) < x, OUT)
GIVEN, EXP, ITEMS, TWO, FIVE = q(x > 0, X, given=[x > 0]), q(exp(x) > 0, X), total(i, 1, n, s[i]), num(2), num(5)
W = ["w", [0], []]

CASES = {
    "split and": ("split", q(both(P, Q, R), X), "first", "second", "third"),
    "split iff": ("split", q(iff(P, Q), X), "first", "second"),
    "split equal": ("split", q(eq(x, y), X, Y), "first", "second"),
    "assume": ("assume", q(implies(P, Q), X, given=[R])),
    "either": ("either", q(either(P, Q, R), X), 1), "apart less": ("apart", q(ne(x, y), X, Y), True),
    "apart more": ("apart", q(ne(x, y), X, Y), False), "cases": ("cases", REAL, sqrt(x) < 1),
    "cases of equal": ("cases", REAL, eq(x, 1)),
    "alternatives": ("alternatives", about(X, given=[either(P, Q, R)]), 0, "first", "second", "third"),
    "alternatives implies": ("alternatives", about(X, given=[Q, implies(P, R)]), 1, "first", "second"),
    "alternatives apart": ("alternatives", about(X, given=[ne(x, 1)]), 0, "first", "second"),
    "have": ("have", REAL, 1 / x < 1),
    "absurd": ("absurd", about(X, given=[P])),
    "weaken": ("weaken", about(whole("x", 1, 3), real("y", 0, 1, open=True), real("v", 0, 1, open=True)), ["x", "y"]),
    "forget": ("forget", about(X, Y, given=[P, y < 1, Q]), ["y"], [1]),
    "tighten above": ("tighten", about(IN, given=[x < 4]), "x", 0),
    "tighten below": ("tighten", about(OUT, given=[3 < x]), "x", 0),
    "tighten at least": ("tighten", about(OUT, given=[3 <= x]), "x", 0),
    "tighten choice": ("tighten", about(choice("x", HALF, 2, 9), given=[x <= 4]), "x", 0),
    "enumerate": ("enumerate", about(Variable("x", ONE, num(4), whole=True, low_open=True)), "x", "first", "second",
        "third"),
    "enumerate below": ("enumerate", about(Variable("x", ONE, num(4), whole=True, high_open=True)), "x", "each"),
    "enumerate choice": ("enumerate", q(x < y, choice("x", 1, 2, 9), Y), "x", "each"),
    "enumerate point": ("enumerate", q(x < y, Y, Variable("x", exp(y), exp(y))), "x", "only"),
    "linear square": ("linear", q(0 <= log(x) ** 2, X), [["1", [["square", log(x), []]]]]),
    "linear factor": ("linear", q(0 <= y, X, Y, given=[eq(y, 0)]), [[num(-1), [0]]]),
    "scale": ("scale", q(x / y < 1, X, Y), y, x < y),
    "scale zeros": ("scale", q(x < y, X, Y, given=[eq(x, y)]), ONE, x + (x - y) / x < y, [[-1 / x, 0]]),
    "exponentiate": ("exponentiate", q(x <= y, X, Y)), "logarithm": ("logarithm", q(exp(x) <= exp(y), X, Y)),
    "split sum": ("split_sum", about(X, N, S, whole("k")), SUM, k),
    "split product": ("split_sum", about(N, S, whole("k"), X), fold("prod", i, 1, n, s[i]), k),
    "telescope": ("telescope", COUNTED, total(i, 2, n, i), each(j, j * (j - 1) / 2), ONE),
    "termwise less": ("termwise", POSITIVE, SUM, "<", 1 / x),
    "termwise at most": ("termwise", POSITIVE, SUM, "<=", i),
    "termwise equal": ("termwise", POSITIVE, SUM, "=", i),
    "termwise more": ("termwise", POSITIVE, SUM, ">", i),
    "termwise at least": ("termwise", POSITIVE, SUM, ">=", i),
    "termwise largest": ("termwise", LISTED, MOST, "<=", x),
    "termwise least": ("termwise", LISTED, LEAST, ">=", x),
    "member least": ("member", LISTED, LEAST, n),
    "member at a place": ("member", LISTED, MOST, when(1 / x > 0, 1, n)),
    "resolve if": ("resolve", about(X, Y), when(P, x, y), 0),
    "resolve if not": ("resolve", about(X, Y), when(P, x, y), 1),
    "resolve abs": ("resolve", REAL, absolute(log(x)), 0),
    "resolve abs below": ("resolve", REAL, absolute(x), 1),
    "resolve largest": ("resolve", about(X, Y, V), BIGGEST, 1),
    "resolve least": ("resolve", about(X, Y, V), SMALLEST, 2),
    "face low": ("face", LOG_IN, "x", True, False),
    "face low strict": ("face", LOG_IN, "x", True, True),
    "face low outside": ("face", LOG_OUT, "x", True, False),
    "face low outside strict": ("face", LOG_OUT, "x", True, True),
    "face high": ("face", q(log(x) <= x, IN), "x", False, False),
    "face high outside strict": ("face", LOG_OUT, "x", False, True),
    "face low strict, high outside": ("face", q(log(x) < x, Variable("x", TWO, FIVE, high_open=True)), "x", True,
                                      True),
    "face high strict, low outside": ("face", q(log(x) < x, Variable("x", TWO, FIVE, low_open=True)), "x", False,
                                      True),
    "face forgets": ("face", q(x <= 6, IN, Y, given=[x < 4, y < 1]), "x", False, False),
    "induct": ("induct", q(ITEMS <= n, X, N, S, given=[P, s[1] < 1]), "n"),
    "induct bounded": ("induct", q(n <= 9, whole("n", 2, 9)), "n"),
    "change log": ("change", about(FROM_2, Y, given=[x < y]), "x", "u", "log"),
    "change log open": ("change", OUTER, "x", "u", "log"), "change log all": ("change", REAL, "x", "u", "log"),
    "change low": ("change", about(FROM_2), "x", "u", "moebius"),
    "change low open": ("change", about(real("x", 2, open=True)), "x", "u", "moebius"),
    "change high": ("change", about(Variable("x", None, TWO), Variable("y", None, x)), "x", "u", "moebius"),
    "change high open": ("change", about(Variable("x", None, TWO, high_open=True)), "x", "u", "moebius"),
    "generalise": ("generalise", q(exp(x) + y >= 0, X, Y, given=[exp(x) > y]), exp(x), {"name": "v", "low": ZERO,
                   "high": 1 / y}, v + y >= 0, [v > y]),
    "generalise with a hypothesis": ("generalise", q(exp(x) >= 0, X, Y, given=[x <= y]), exp(x), {"name": "v"},
                                     v >= 0, [x + 0 * log(v) <= y]),
    "generalise each": ("generalise", q(total(i, 1, n, exp(i / x)) >= 0, X, N), each(j, exp(j / x)), {"name": "v",
                        "low": ZERO, "sizes": [n]}, total(i, 1, n, v[i]) >= 0),
}  # fmt: skip

# Each of these breaks one condition that the rule itself has to see; what it is handed besides would do.
REFUSED = {
    "split comparison": ("split", q(P, X), []), "split too few": ("split", q(both(P, Q), X), []),
    "assume and": ("assume", q(both(P, Q), X)), "either from the end": ("either", q(either(P, Q), X), -1),
    "either by a truth value": ("either", q(either(P, Q), X), True), "either and": ("either", q(both(P, Q), X), 0),
    "apart less": ("apart", q(P, X), True),
    "alternatives too few": ("alternatives", about(X, given=[either(P, Q)]), 0, []),
    "cases of what is unknown": ("cases", REAL, y < 1),
    "known weaker": ("known", q(P, X, given=[x <= 1])),
    "weaken a size": ("weaken", q(s[1] < 7, N, S), ["n"]), "forget what is used": ("forget", q(P, X), ["x"]),
    "tighten equal": ("tighten", about(X, given=[eq(x, 1)]), "x", 0),
    "tighten another": ("tighten", about(X, Y, given=[y < 1]), "x", 0),
    "tighten by itself": ("tighten", about(X, given=[x < x**2]), "x", 0),
    "tighten by a later one": ("tighten", about(X, Y, given=[x < y]), "x", 0),
    "enumerate reals": ("enumerate", INNER, "x", []), "enumerate without end": ("enumerate", q(n < 7, N), "n", []),
    "enumerate between fractions": ("enumerate", about(Variable("x", num(HALF), num(3), whole=True)), "x", []),
    "enumerate too many": ("enumerate", about(whole("x", 1, 5001)), "x", []),
    "enumerate whole items": ("enumerate", q(s[1] < 7, N, Variable("s", ONE, ONE, whole=True, sizes=(n,))), "s",
                              []),
    "enumerate two proofs": ("enumerate", about(whole("x", 1, 3)), "x", [], []),
    "identity of what differs": ("identity", q(x < y, X, Y)),
    "identity not strict": ("identity", q(x < x, X)), "identity apart": ("identity", q(ne(x, x), X)),
    "identity unequal": ("identity", q(eq(x, x + 1), X)),
    "linear negative": ("linear", q(x <= 0, X, given=[x >= 0]), [["-1", [0]]]),
    "linear nothing": ("linear", q(x <= 0, X, given=[x >= 0]), [["0", [0]]]),
    "linear apart": ("linear", q(0 < x, X, given=[ne(x, 0)]), [["-1", [0]]]),
    "linear strict from weak": ("linear", q(0 < x, X, given=[x >= 0]), [["1", [0]]]),
    "linear strict from weak times strict": ("linear", q(0 < x * y, X, Y, given=[x >= 0, y > 0]), [["1", [0, 1]]]),
    "linear equal from weak": ("linear", q(eq(0, x), X, given=[x >= 0]), [["1", [0]]]),
    "linear another": ("linear", q(0 <= x + 1, X, given=[x >= 0]), [["1", [0]]]),
    "linear undefined factor": ("linear", q(0 <= x / y, X, Y, given=[eq(0, x)]), [[1 / y, [0]]]),
    "scale another relation": ("scale", q(x <= 1, X), ONE, x < 1),
    "scale another": ("scale", q(x <= 1, X), ONE, x <= 2),
    "scale weak zero": ("scale", q(x <= 1, X, given=[x <= 0]), ONE, 2 * x <= 1, [[num(-1), 0]]),
    "logarithm of sines": ("logarithm", q(Term("apply", "sin", x) <= Term("apply", "sin", y), X, Y)),
    "signs of equal": ("signs", q(eq(x, x), positive("x")), [], {}),
    "signs strict from weak": ("signs", q(x > 0, real("x", 0)), [], {}),
    "signs apart from weak": ("signs", q(ne(x, 0), real("x", 0)), [], {}),
    "signs a taken name": ("signs", q(x + 1 > 0, X, given=[x >= 0]), [["x", [0], []]], {"x": x}),
    "signs a name twice": ("signs", GIVEN, [W, W], {"x": w}),
    "signs a primed name": ("signs", GIVEN, [["i'", [0], []]], {"x": var("i'")}),
    "signs over what may be 0": ("signs", q(1 / x > 0, X, given=[x >= 0]), [["w", [], [0]]], {"x": 1 / w}),
    "signs from an equality": ("signs", q(x >= 0, X, given=[eq(0, x)]), [W], {"x": w}),
    "signs written wrongly": ("signs", q(x > 0, X, given=[x > -1]), [W], {"x": w}),
    "signs of items": ("signs", q(s[1] > 0, N, S, given=[s[1] > 0]), [W], {"s": each(i, w)}),
    "signs by what may be undefined": ("signs", GIVEN, [W],
                                       {"x": w + log(w) - log(w)}),
    "split largest": ("split_sum", LISTED, MOST, ONE),
    "split a term": ("split_sum", LISTED, x + 1, ONE),
    "telescope product": ("telescope", COUNTED, fold("prod", i, 1, n, 1), each(j, j), ONE),
    "telescope by its index": ("telescope", COUNTED, COUNT, each(j, j), i),
    "telescope undefined": ("telescope", COUNTED, COUNT, each(j, j + 1 / x - 1 / x), ONE),
    "telescope undefined factor": ("telescope", COUNTED, COUNT, each(j, j / x), 1 / x),
    "telescope other differences": ("telescope", COUNTED, COUNT, each(j, j**2), ONE),
    "telescope a term": ("telescope", COUNTED, COUNT, n, ONE),
    "termwise apart": ("termwise", LISTED, ITEMS, "!=", x),
    "termwise product": ("termwise", LISTED, fold("prod", i, 1, n, s[i]), "<=", x),
    "termwise largest from below": ("termwise", LISTED, MOST, ">=", x),
    "termwise least from above": ("termwise", LISTED, LEAST, "<=", x),
    "termwise largest strictly": ("termwise", LISTED, MOST, "<", x),
    "termwise largest by its index": ("termwise", LISTED, MOST, "<=", i),
    "termwise a term": ("termwise", LISTED, x + 1, "<=", x),
    "member of a sum": ("member", LISTED, ITEMS, ONE),
    "resolve a root": ("resolve", REAL, sqrt(x), 0),
    "face of whole numbers": ("face", q(n <= 3, whole("n", 1, 3)), "n", False, False),
    "face without end": ("face", q(x <= 3, X), "x", False, False),
    "face of equal": ("face", q(eq(x, 3), IN), "x", False, False),
    "face of a later end": ("face", q(x <= y, IN, Variable("y", x)), "x", False, False),
    "face with a kink": ("face", q(absolute(x) <= 3, real("x", -1, 1)), "x", False, False),
    "induct on reals": ("induct", q(x <= 3, real("x", 1)), "x"),
    "induct without start": ("induct", q(n <= 3, whole("n")), "n"),
    "induct from a fraction": ("induct", q(x <= 3, Variable("x", num(HALF), whole=True)), "x"),
    "induct from outside": ("induct", q(x <= 3, Variable("x", ONE, whole=True, low_open=True)), "x"),
    "induct with moving ends": ("induct", q(x <= n, N, Variable("x", None, n)), "n"),
    "induct with a size too fast": ("induct", q(s[1] <= n, N, sequence("s", 2 * n)), "n"),
    "induct with a size too small": ("induct", q(s[1] <= n, N, sequence("s", n - 2)), "n"),
    "change whole numbers": ("change", q(n < 7, N), "n", "u", "moebius"),
    "change items": ("change", q(s[1] < 7, N, S), "s", "u", "log"),
    "change a choice": ("change", about(choice("x", 1, 2)), "x", "u", "log"),
    "change to a taken name": ("change", about(FROM_2, Y), "x", "y", "moebius"),
    "change between two ends": ("change", INNER, "x", "u", "moebius"),
    "change without ends": ("change", REAL, "x", "u", "moebius"),
    "generalise to a taken name": ("generalise", q(exp(x) > 0, X, Y), exp(x), {"name": "y"}, y > 0),
    "generalise to whole numbers": ("generalise", EXP, exp(x), {"name": "v", "whole": True}, v > 0),
    "generalise to a choice": ("generalise", EXP, exp(x), {"name": "v", "values": ["1"]}, v > 0),
    "generalise another goal": ("generalise", EXP, exp(x), {"name": "v"}, v > 1),
    "generalise with what is unknown": ("generalise", EXP, exp(x), {"name": "v"}, v > 0, [v > 3]),
}  # fmt: skip


u, T = var("u"), var("T")
TO_0 = limit(u * x, 0, u, 1)
STEP, LONG = Variable("u", ZERO, TWO, low_open=True), real("T", 1)
# What each form of conclusion says, as sequents.
FORMS = {
    "supremum attained": ([X, Y], supremum(x * (y - x), y**2 / 4, at={x: y / 2}), y > 0),
    "supremum approached": ([IN, STEP], supremum(x / 6, 1, at={x: 5 - u}, step=u, rate=7)),
    "supremum not attained": ([OUT, STEP], supremum(x / 6, 1, at={x: 5 - u}, step=u, rate=7, attained=False)),
    "limit to 0": ([X, STEP], limit(u * x, x, u, x**2), x > 1),
    "limit to infinity": ([X, LONG], limit(x / T, 0, T, 3)),
    "exists": ([IN, Y], exists({x: 3}, x > 2 * y), x < y),
    "unique minimiser": ([IN, Y], unique_minimiser((x - 3) ** 2 * y**2, at={x: 3})),
    "unique zero": ([IN, real("y", 0)], unique_zero([x - y, x**2 - 6], {"x": (2, 3), "y": (1, 4)})),
    "iff": (X, iff(x > 1, exp(x) > exp(1))),
}
NOT_STATED = {
    "a step that is whole": ([X, whole("u", 1, 2)], TO_0),
    "a step of two numbers": ([X, Variable("u", ZERO, TWO, low_open=True, sizes=(TWO,))], TO_0),
    "a step without end": ([X, positive("u")], TO_0),
    "a step from below 0": ([X, Variable("u", num(-1), TWO, low_open=True)], TO_0),
    "a step in nothing": ([X, Variable("u", ZERO, ZERO, low_open=True)], TO_0),
    "a step with 0": ([X, real("u", 0, 2)], TO_0),
    "a step up to a variable": ([X, Variable("u", ZERO, x, low_open=True)], limit(u, 0, u, 1)),
    "a step that grows from 0": ([X, real("T", 0)], limit(x / T, 0, T, 1)),
    "a target with the step": ([X, STEP], limit(u * x, u, u, 1)),
    "a rate with the step": ([X, STEP], limit(u * x, 0, u, 1 / u)),
    "a hypothesis on the step": ([X, STEP], TO_0, u > 1),
    "a domain with the step": ([STEP, Variable("x", None, u)], TO_0),
    "a limit in no variable": (X, limit(u, 0, u, 1)),
    "a supremum that is a variable": (X, supremum(x, x, at={x: 1})),
    "a supremum at nothing": (X, supremum(x, 1, at={})),
    "a supremum elsewhere": (X, supremum(x, 1, at={y: 1})),
    "a supremum with its step": ([X, STEP], supremum(x + u, 1, at={x: u}, step=u, rate=1)),
    "attained and open": (X, supremum(x, 1, at={x: 1}, attained=False)),
    "attained with a rate": (X, supremum(x, 1, at={x: 1}, rate=1)),
    "a point for a domain": ([X, Variable("y", x)], exists({x: 1}, y > x)),
    "a point for whole numbers": (N, exists({n: 1}, n > 0)),
    "a point for items": ([N, S], exists({"s": each(i, 1)}, s[1] > 0)),
    "zeros of too few equations": ([X, Y], unique_zero([x], {"x": (0, 1), "y": (0, 1)})),
    "zeros with hypotheses": (X, unique_zero([x], {"x": (0, 1)}), x > 0),
    "zeros in another box": (X, unique_zero([x], {"y": (0, 1)})),
    "zeros in a moving box": (X, unique_zero([x], {"x": (0, x)})),
    "zeros in a flat box": (X, unique_zero([x], {"x": (1, 1)})),
    "zeros of whole numbers": (N, unique_zero([n], {"n": (0, 1)})),
    "zeros in a moving domain": ([X, Variable("y", x)], unique_zero([x, y], {"x": (0, 1), "y": (0, 1)})),
}


# What a sequent needs to be defined: its domain, its hypotheses in turn, its goal.
ABOVE_0, LOG = [N, sequence("s", n, 0)], log(x) < 1
NEEDED = {
    "negative power": q(x**-2 < 1, X), "logarithm": q(log(1 / x) < 1, X), "and": q(both(x > 0, LOG), X),
    "or": q(either(x <= 0, LOG), X), "implies": q(implies(x > 0, LOG), X), "iff": q(iff(x > 0, LOG), X),
    "if": q(when(1 / x > 0, log(x), sqrt(-x)) < 1, X), "item": q(s[n + 1] < 1, N, S),
    "sum": q(total(i, 1, n, 1 / (x - i)) < 1, X, N), "least": q(fold("min", i, 1, n, x) < 1, X, N),
    "hypotheses": q(x < 1 / x, X, given=[x > 0, LOG]),
    "ends and sizes": q(y < 1, X, Variable("y", 1 / x, log(x)), whole("n"), sequence("s", n + 1), given=[x > 1]),
}  # fmt: skip
# What is known of a domain, and of the items that are read wherever the goal has a value.
FACTS = {
    "closed": q(x < 2, IN), "open": q(x < 2, OUT), "half open": q(x < 2, positive("x")),
    "choice": q(x < 2, choice("x", 1, 2)), "items": q(s[1] < s[n], N, sequence("s", n, 0, 1)),
    "sums": q(total(i, 1, n, s[2] * s[i]) < total(i, s[1], n, 1), *ABOVE_0),
    "or": q(either(s[1] < 1, s[2] < 1), *ABOVE_0), "and": q(both(s[1] < 1, s[2] < 1), *ABOVE_0),
    "implies": q(implies(s[1] < 1, s[2] < 1), *ABOVE_0), "if": q(when(s[1] < 1, s[2], s[3]) < 1, *ABOVE_0),
    "terms": q(s[1] + exp(s[2]) < 1, *ABOVE_0), "ball": q(s[1] < 1, N, ball("s", n, 3)),
}  # fmt: skip


def conclusions(*case):
    return obligations(stated("a", *case))


def why(build, *case):
    """The reason of a refusal: a rule that refuses for another one may have lost the condition that it is meant for."""
    with pytest.raises((Rejected, *FAULTS)) as refusal:
        build(*case)
    return f"{refusal.type.__name__}: {refusal.value}"


def test_what_is_asked_for_and_what_is_refused_is_what_is_written():
    told = {name: asked(*case) for name, case in CASES.items()}
    told |= {f"form {name}": [f"{part}: {line(sequent)}" for part, sequent in conclusions(*case)]
             for name, case in FORMS.items()}  # fmt: skip
    told |= {f"refused {name}": [why(asked, *case)] for name, case in REFUSED.items()}
    told |= {f"not stated {name}": [why(conclusions, *case)] for name, case in NOT_STATED.items()}
    told |= {f"needed by {name}": list(map(line, needed(sequent))) for name, sequent in NEEDED.items()}
    told |= {f"known of {name}": list(map(text, facts(sequent))) for name, sequent in FACTS.items()}
    written_out = "".join(f"{name}\n" + "".join(f"    {one}\n" for one in lines) for name, lines in told.items())
    assert written_out == (Path(__file__).with_name("obligations.txt")).read_text(encoding="utf-8")


@pytest.mark.parametrize("name", FORMS)
def test_a_form_survives_being_written_down(name):
    made = stated("a", *FORMS[name])
    read = from_data(json.loads(json.dumps(made.to_json())))
    assert read.digest == made.digest and obligations(read) == obligations(made)
