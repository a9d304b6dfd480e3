"""Certificates that were damaged or handed to another statement: none proves what is false or refutes what is true."""

import copy
import json
import random
from fractions import Fraction
from functools import cache

import pytest

from proofs_check.core.certificate import Outcome, check_certificate
from proofs_check.core.mutants import mutants
from proofs_check.core.printing import point_to_json
from proofs_check.core.rules import RULES, Rejected
from proofs_check.core.statement import obligations
from proofs_check.core.terms import num, substitute
from proofs_check.language import (
    choice,
    eq,
    exp,
    positive,
    real,
    sequence,
    supremum,
    total,
    unique_minimiser,
    unique_zero,
    var,
    whole,
)
from proofs_check.rigour.decide import Effort, decide
from proofs_check.rigour.points.refute import refute
from tests.proofs_check.core import sampling
from tests.proofs_check.core.true_statements import TRUE
from tests.proofs_check.core.writing import certificate, stated

x, y, u, n, m = map(var, "xyunm")
a, b, D, e = map(var, "abDe")
i, j, s, t = map(var, "ijst")
X, Y, A, B, U = real("x"), real("y"), positive("a"), positive("b"), real("u", 0, 1, open="low")
N, S = whole("n", 1), sequence("s", n)
EPS = real("e", 0, 1, open=True)

LISTED = {
    "razor": ([positive("D"), EPS], e / (1 + e * (1 - exp(-D))) < e),
    "squares": ([A, B], (a + b) ** 2 >= 4 * a * b),
    "shares": ([N, S], eq(total(i, 1, n, exp(s[i]) / total(j, 1, n, exp(s[j]))), 1)),
    "whole": ([whole("n", 4), whole("m", 3, n - 1)], (m - 1) * (n - m) >= 2),
    "choice": (choice("x", 1, 2, 3), x**3 + 11 * x <= 6 * x**2 + 6),
    "box": ([real("x", 0, 1), real("y", 0, 1)], x * y <= Fraction(2) - exp(x * y - 1)),
    "least": ([X, Y], unique_minimiser((x - y) ** 2 + 1, at={x: y})),
    "below": ([A, U], supremum(1 - a, 1, at={a: u}, step=u, rate=1, attained=False)),
    "geometric": ([N, A], eq(total(i, 1, n, exp(-a * i)), (1 - exp(-a * n)) / (exp(a) - 1))),
    "zero": (real("x", 0), unique_zero([x**2 - 2], {"x": (1, 2)})),
}  # fmt: skip
DEFAULT = tuple(LISTED)
# Of more rules and forms.
MORE = (
    "true.exp.tangent",
    "true.exp.midpoint",
    "true.exp.power",
    "true.exp.mean_value",
    "true.log.tangent",
    "true.sigmoid.slope",
    "true.tanh.cubic",
    "true.softplus.limit",
    "true.softmax.open",
    "true.softmax.saturates",
    "true.attention.hull",
    "true.geometric.bernoulli",
    "true.cauchy.schwarz",
    "true.absolute.triangle",
    "true.sum.cubes",
)
MANY = DEFAULT + MORE
KNOWN = {made.name: made for made in (*TRUE, *(stated(name, *said) for name, said in LISTED.items()))}


@cache
def proved(name):
    """A true statement with its certificate, which is kept as text."""
    found = decide(KNOWN[name])
    assert found.checked is not None and found.checked.outcome is Outcome.PROVED, (name, found.reason)
    return json.dumps(found.certificate)


@cache
def false_mutants(name):
    """Mutants with a witness against them."""
    kept = []
    for mutant in mutants(KNOWN[name]):
        parts = obligations(mutant.statement)
        if any(refute(sequent, steps=300) is not None for _, sequent in parts):
            kept.append(mutant.statement)
    return kept


def subtrees(data):
    yield data
    for part in data.values() if isinstance(data, dict) else data if isinstance(data, list) else ():
        yield from subtrees(part)


@cache
def pool(names):
    """Parts of proofs and terms, out of all certificates."""
    return [part for name in names for part in subtrees(json.loads(proved(name))) if isinstance(part, list)]


ODD = [None, True, False, -1, 0, 1, 2, 10**9, "0", "1", "-1", "1/2", "x", "n", "k'", "i", [], {}, 0.5, ["identity"],
       ["known"], ["signs", [], {}], ["var", "n"], ["num", "0"], ["pi"]]  # fmt: skip


def damage(rng, data, parts):
    """Changes one place of plain data: another number, name, rule, part; one more, one fewer, a step around it."""
    holders = (h for h in subtrees(data) if isinstance(h, list | dict))
    spots = [(h, k) for h in holders for k in (h if isinstance(h, dict) else range(len(h)))]
    if not spots:
        return
    holder, place = rng.choice(spots)
    old = holder[place]
    kind = rng.randrange(9)
    if kind == 0:
        holder[place] = copy.deepcopy(rng.choice(ODD))
    elif kind == 1:
        holder[place] = copy.deepcopy(rng.choice(parts))
    elif kind == 2 and isinstance(holder, list):
        del holder[place]
    elif kind == 3 and isinstance(holder, list):
        holder.insert(place, copy.deepcopy(old))
    elif kind == 4 and isinstance(holder, list) and len(holder) > 1:
        other = rng.randrange(len(holder))
        holder[place], holder[other] = holder[other], old
    elif kind == 5 and isinstance(old, str):
        holder[place] = rng.choice(list(RULES)) if old in RULES else _number(rng, old)
    elif kind == 6 and isinstance(old, int):
        holder[place] = old + rng.choice((-1, 1))
    elif kind == 7 and isinstance(old, list) and old and isinstance(old[0], str) and old[0] in RULES:
        holder[place] = rng.choice((
            ["absurd", old], ["forget", [], [0], old], ["weaken", ["n", "m", "x"], old], ["split", old, old],
            ["tighten", "x", 0, old], ["enumerate", "n", old], ["apart", True, old], ["assume", old],
            ["face", "x", rng.random() < 0.5, rng.random() < 0.5, [], ["signs", [], {}], old],
            ["induct", "n", [], ["identity"], old],
        ))  # fmt: skip
    else:
        holder[place] = copy.deepcopy(rng.choice([*parts[:50], *ODD]))


def _number(rng, text):
    try:
        return str(Fraction(text) * rng.choice((-1, 2, Fraction(9, 10))) + rng.choice((0, 0, 1)))
    except ValueError:
        return rng.choice(("x", "y", "n", "s", "a", "b", "exp", "log", "<", "<=", "="))


def outcome(told_, offered):
    """What the core says; it may reject, and raise nothing else."""
    try:
        return check_certificate(told_, offered).outcome
    except Rejected:
        return None


def forge(seed, count, names):
    """How many forged certificates were rejected."""
    rng = random.Random(seed)
    parts = pool(names)
    rejected = 0
    for _ in range(count):
        name = rng.choice(names)
        forged = json.loads(proved(rng.choice(names) if rng.random() < 0.1 else name))
        false = rng.random() < 0.7 and false_mutants(name)
        target = rng.choice(false) if false else KNOWN[name]
        for _ in range(rng.choice((0, 1, 1, 2, 3)) if false else rng.choice((1, 1, 2, 5))):
            inside = forged.get("proofs")
            damage(rng, inside if inside and rng.random() < 0.9 else forged, parts)
            if not isinstance(forged.get("proofs"), dict | list):
                break
        forged |= certificate(target)
        found = outcome(target, forged)
        if false:
            assert found is not Outcome.PROVED, (target.to_json(), forged)
        else:
            assert found is not Outcome.REFUTED, (target.to_json(), forged)
        rejected += found is None
    return rejected


def point_for(rng, variables):
    at = {}
    for v in variables:
        size = int(at.get("n", 2)) if v.sizes else None
        numbers = [Fraction(rng.randint(-3, 6), 1 if v.whole else rng.choice((1, 2, 10))) for _ in range(size or 1)]
        at[v.name] = numbers[0] if size is None else tuple(numbers)
        if size is None and v.name != "n" and rng.random() < 0.2:
            numbers_ = {name: num(value) for name, value in sampling.point(rng).items()}
            at[v.name] = substitute(sampling.term(rng, 2), numbers_)
    return at


def false_witnesses(seed, count, names):
    rng = random.Random(seed)
    for _ in range(count):
        target = KNOWN[rng.choice(names)]
        label, sequent = rng.choice(obligations(target))
        place = point_to_json(point_for(rng, sequent.variables))
        data = certificate(target, witness=[label, place])
        if rng.random() < 0.2:
            damage(rng, data["witness"], [["0"]])
        assert outcome(target, data) is None, (target.to_json(), data)


def test_no_forged_certificate_is_taken():
    assert forge(4, 500, DEFAULT) > 333


def test_no_point_refutes_a_true_statement():
    false_witnesses(5, 300, DEFAULT)


def test_no_certificate_proves_a_false_mutant_as_it_stands():
    for name in DEFAULT:
        for target in false_mutants(name):
            assert outcome(target, {**json.loads(proved(name)), "statement": target.digest}) is not Outcome.PROVED


@pytest.mark.deep
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("seed", range(8))
def test_no_forged_certificate_is_taken_of_many(seed):
    assert forge(400 + seed, 2_500, MANY) > 1_500


@pytest.mark.deep
@pytest.mark.timeout(3600)
def test_no_point_refutes_a_true_statement_of_many():
    false_witnesses(6, 20_000, MANY)


@pytest.mark.deep
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("name", MANY)
def test_no_search_proves_a_false_mutant(name):
    for target in false_mutants(name):
        found = decide(target, Effort(refuter=0, prover=60, looks=300, depth=4, work=300_000))
        assert found.checked is None or found.checked.outcome is not Outcome.PROVED, target.to_json()
