"""Normal forms against values at 50 digits: equal forms mean equal values, wherever both sides have one."""

import random
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction

import mpmath
import pytest

from proofs_check.core.normal import back, canonical_formula, difference, knowing, normal
from proofs_check.core.terms import Malformed, Term, free, num, substitute
from proofs_check.core.work import TooLarge, limited, spend
from proofs_check.language import PI, absolute, atan, cos, each, eq, exp, fold, log, sin, sqrt, tanh, total, var
from tests.proofs_check.core import sampling
from tests.shares import one_in

x, y, n, i, j, k = map(var, "xynijk")
s, LARGE = var("s"), 10**9 + 7  # a prime
EXPS, SUM = total(j, 1, n, exp(s[j])), total(i, 1, n, s[i])


def at_least(**lows):
    """Inside, variables are at least so much."""
    return knowing({name: (Fraction(low), False) for name, low in lows.items()})


def rewritten(rng, term):
    """Another term with the same value where both have one, by laws that are written down here."""
    a, b = sampling.term(rng, 2), sampling.term(rng, 1)
    laws = [
        lambda: term * a / a, lambda: (term + a) - a, lambda: term + a * b - b * a, lambda: (term * b + a * b) / b - a,
        lambda: term * exp(a) * exp(-a), lambda: term + log(exp(a) * exp(b)) - a - b, lambda: term * sqrt(a) ** 2 / a,
        lambda: term + absolute(a) ** 2 - a**2, lambda: term * (sin(a) ** 2 + cos(a) ** 2),
        lambda: term + tanh(a) - (exp(a) - exp(-a)) / (exp(a) + exp(-a)), lambda: term + exp(2 * log(a)) - a**2,
        lambda: term + total(j, 1, 3, a * j) - 6 * substitute(a, {}), lambda: term + absolute(a - b) - absolute(b - a),
        lambda: term * sin(a + b) + sin(a) * cos(b) - sin(a + b) * term - sin(a + b) + cos(a) * sin(b),
    ]  # fmt: skip
    return rng.choice(laws)()


def damaged(rng, term):
    """The term with one number in it changed, or one sign."""
    if term.kind == "num":
        return num(term.parts[0] + rng.choice((1, -1, -2 * term.parts[0] or 1)))
    places = [number for number, part in enumerate(term.parts) if isinstance(part, Term) and part.kind != "rel"]
    if not places or (term.kind == "var"):
        return term * -1
    at = rng.choice(places)
    return Term(term.kind, *term.parts[:at], damaged(rng, term.parts[at]), *term.parts[at + 1 :])


def agree(a, b, env):
    """Whether the values agree at 50 digits; None where one side has none."""
    try:
        one, other = sampling.value(a, env), sampling.value(b, env)
    except (sampling.NoValue, KeyError):
        return None
    return abs(one - other) <= mpmath.mpf(10) ** -25 * (1 + abs(one))


def compare(seed, count):
    """How many pairs had equal forms and values; asserts that none had equal forms and different values."""
    rng = random.Random(seed)
    equal = 0
    with mpmath.workdps(50):
        for _ in range(count):
            term = sampling.term(rng, rng.choice((2, 3)))
            kind = rng.randrange(4)
            try:
                other = (rewritten(rng, term), damaged(rng, term), damaged(rng, rewritten(rng, term)), None)[kind]
                with limited(20_000):
                    other = back(normal(term)) if other is None else other
                    same = difference(term, other).is_zero
            except (TooLarge, ZeroDivisionError, Malformed):
                continue
            if not same:
                continue
            for _ in range(3):
                env = {name: sampling.real(number) for name, number in sampling.point(rng).items()}
                found = agree(term, other, env)
                assert found is not False, (term, other, env)
                equal += found is True
    return equal


def compare_sums(seed, count):
    """The same for sums that may be empty, whose divisors may then be 0; with and without n known to be at least 1."""
    rng = random.Random(seed)
    equal = 0
    with mpmath.workdps(50):
        for _ in range(count):
            term = sampling.summed(rng, rng.choice((2, 3, 4)))
            least = rng.choice((0, 1))
            try:
                with limited(20_000), at_least(n=least):
                    other = rng.choice((_spread, back, _shared))
                    other = back(normal(term)) if other is back else other(rng, term)
                    same = difference(term, other).is_zero
            except (TooLarge, ZeroDivisionError, Malformed):
                continue
            for number in range(least, 4) if same else ():
                env = {"n": mpmath.mpf(number), "x": mpmath.mpf(rng.randint(-3, 3)) / rng.choice((1, 7))}
                found = agree(term, other, env)
                assert found is not False, (term, other, env)
                equal += found is True
    return equal


def _spread(rng, term):
    """A divisor put into the sum that it stands before, or taken out of one, blindly, and cancelled."""
    if term.kind == "div" and term.parts[0].kind == "fold":
        operation, index, low, high, body = term.parts[0].parts
        return Term("fold", operation, index, low, high, body / term.parts[1])
    if term.kind == "fold" and term.parts[4].kind == "div":
        operation, index, low, high, body = term.parts
        same = body.parts[1] if index not in free(body.parts[1]) else num(1)
        return Term("fold", operation, index, low, high, body * same) / same
    parts = [_spread(rng, part) if isinstance(part, Term) else part for part in term.parts]
    return Term(term.kind, *parts)


def _shared(rng, term):
    """A sum over itself, term by term: 1, or 0 where it is empty."""
    sum_ = total(i, 1, n, exp(i * x))
    return rng.choice((term + total(i, 1, n, exp(i * x) / sum_) - 1, term + total(i, 1, n, i / total(j, 1, n, j)) - 1,
                       term * total(k, 1, n, total(i, 1, k, exp(x) / total(j, 1, n, exp(x)))) * 1 / 1))  # fmt: skip


@pytest.mark.parametrize("seed", one_in(70, range(70), 7))
def test_sums_that_may_be_empty_have_equal_values(seed):
    assert compare_sums(seed, 600) > 200


def test_a_divisor_comes_out_of_a_sum_that_is_not_empty():
    shares = total(i, 1, n, exp(s[i]) / EXPS)
    assert not difference(shares, num(1)).is_zero
    for low, left_out, one in ((0, False, False), (1, False, True), (Fraction(1, 2), False, False), (0, True, False)):
        with knowing({"n": (Fraction(low), left_out)}):
            assert difference(shares, num(1)).is_zero is one
    part = total(i, 1, n - k, exp(s[i]) / EXPS)
    whole_ = total(i, 1, n - k, exp(s[i])) / EXPS
    assert not difference(part, whole_).is_zero
    with at_least(n=1):  # the sum may be empty, and its divisor is positive
        assert difference(part, whole_).is_zero
    hidden = total(k, 1, n, exp(s[k]) / EXPS)
    with at_least(k=5, i=5, j=5):
        assert not difference(hidden, num(1)).is_zero


def test_a_product_of_what_is_at_least_one_reaches_nothing():
    for last in (n * k, n**2 - 1, -n):
        with at_least(n=1):
            assert not difference(total(i, 1, last, 1 / x), total(i, 1, last, 1) / x).is_zero


def test_an_index_of_the_name_of_a_variable_keeps_nothing_of_it():
    inner = total(i, x, x + n, i)  # not empty, but it begins nowhere known; its index is written k
    for name, one in (("i", False), ("k", False), ("x", True)):
        weight = var(f"s{name}")[j]  # a form is remembered by what is known of its free names
        divided, outside = total(j, 1, y, weight / inner), total(j, 1, y, weight) / inner
        with at_least(n=1, **{name: 5}):
            assert difference(divided, outside).is_zero is one, name


def test_a_divisor_that_mentions_the_index_stays_in_the_sum():
    left = total(i, 1, n, s[i] / (i + 1)) * total(i, 1, n, s[i] ** 2)
    right = SUM * total(i, 1, n, s[i] ** 2 / (i + 1))
    with at_least(n=1):
        assert not difference(left, right).is_zero


@pytest.mark.parametrize("seed", one_in(40, range(40), 3))
def test_equal_forms_have_equal_values(seed):
    assert compare(seed, 500) > 150


@pytest.mark.parametrize(
    ("a", "b"),
    [
        (sqrt(x**2), x), (absolute(x), x), (log(x**2), 2 * log(x)), (log(x * y), log(x) + log(y)),
        (exp(x * y), exp(x) * exp(y)), (cos(x * y), cos(x) * cos(y)),
        (sqrt(x + y), sqrt(x) + sqrt(y)),
        (sin(PI / 3), num(0)),
        (absolute(-x), -absolute(x)),
        (total(i, 1, n, i), n * n), (total(i, 1, n, num(1)), n), (fold("prod", i, 1, n, 2), 2 * n),
        (fold("prod", i, 1, n, s[i]), SUM),
        (total(i, 1, n, total(j, 1, i, j)), total(i, 1, n, total(j, 1, n, j))),
        (total(i, 1, n, total(j, 1, n, s[i] * s[j])), total(i, 1, n, s[i] ** 2)),
        (total(i, 1, n, total(j, 1, n, s[i])), total(i, 1, n, total(j, 1, n, s[n]))),
        (total(i, 1, n, i * k), total(i, 1, k, i * n)), (fold("max", i, 1, n, s[i]), fold("min", i, 1, n, s[i])),
        (fold("max", i, 1, 2, s[i]), s[1]), (sin((x + y) / (1 + n)), sin(x + y)),
        (fold("max", i, 1, n, -s[i]), -fold("max", i, 1, n, s[i])), (total(i, 1, n, i**2), total(i, 1, n, i) ** 2),
        (Term("if", x < y, x, y), Term("if", y < x, x, y)), (Term("if", x < y, x, y), Term("if", x <= y, y, x)),
    ],
)  # fmt: skip
def test_what_is_not_equal_has_another_form(a, b):
    assert not difference(a, b).is_zero


@pytest.mark.parametrize(
    ("a", "b"),
    [
        (sqrt(8), 2 * sqrt(2)), (log(12), 2 * log(2) + log(3)), (tanh(-x), -tanh(x)),
        (total(i, 1, n, total(j, 1, n, s[i] * s[j])), SUM ** 2),
        (total(i, 1, n, x * s[i]), x * total(k, 1, n, s[k])), (total(i, x, x + 2, i), 3 * x + 3),
        (exp(3 * log(x)), x**3), (log(exp(x) / exp(y)), x - y), (total(i, 2, 1, 1 / x), num(0)),
        (sin(x) ** 2, 1 - cos(x) ** 2), (sin(x) ** 3, sin(x) - sin(x) * cos(x) ** 2), (absolute(x) ** 2, x**2),
        (sin(x - y), sin(x) * cos(y) - cos(x) * sin(y)), (cos(x + y), cos(x) * cos(y) - sin(x) * sin(y)),
        (cos((n - k) * x), cos(n * x) * cos(k * x) + sin(n * x) * sin(k * x)),
        (sin(PI), num(0)), (cos(PI), num(-1)), (sin(-PI / 2), num(-1)), (cos(5 * PI / 2), num(0)),
        (cos(-4 * PI), num(1)),
        (sin(x + PI), -sin(x)), (cos(x - PI / 2), sin(x)),
        (sqrt(x) ** 2, x), (sqrt(x) ** 3, x * sqrt(x)), (sin(-x), -sin(x)), (cos(-x), cos(x)), (atan(-x), -atan(x)),
        (tanh(x), (exp(x) - exp(-x)) / (exp(x) + exp(-x))),
        (sin(num(0)), num(0)), (cos(x - x), num(1)), (sqrt(num(LARGE**4)), num(LARGE**2)),
        (sin((x + y) / (1 + n)), sin(x / (1 + n)) * cos(y / (1 + n)) + cos(x / (1 + n)) * sin(y / (1 + n))),
        (fold("max", i, 1, 2, s[i]), Term("max", s[1], s[2])), (fold("min", i, 2, 2, s[i]), s[2]),
        (Term("max", num(1), num(2)), num(2)), (Term("min", num(1), num(2)), num(1)),
    ],
)  # fmt: skip
def test_what_is_equal_by_a_listed_law_has_one_form(a, b):
    assert difference(a, b).is_zero


def test_an_index_is_never_captured():
    body = total(i, 1, n, s[i] * var("k"))
    assert "k" not in {node.parts[1] for node in [back(normal(body))] if node.kind == "fold"}
    moved = substitute(total(i, 1, 3, i * x), {"x": i})
    assert difference(moved, 6 * i).is_zero
    beside = substitute(total(i, 1, n, i * x * var("i'")), {"x": i})  # the next name is taken, too
    assert difference(beside, i * var("i'") * total(j, 1, n, j)).is_zero
    put = substitute(SUM, {"s": each(j, i * j)})
    assert difference(put, i * total(j, 1, n, j)).is_zero


def test_what_is_too_large_ends():
    with pytest.raises(TooLarge):
        normal(num(2) ** 10**6)
    with pytest.raises(TooLarge):
        normal(exp(num(10**1900) * log(2)))
    with pytest.raises(TooLarge), limited(10**4):
        normal((x + y + 1) ** 200)


@pytest.mark.parametrize("order", [(0, 1), (1, 0)], ids=["weaker first", "stronger first"])
def test_a_formula_has_its_form_by_what_is_known_now(order):
    """Shares sum to 1 where there is one; their divisor leaves the sum only there. Each order has terms of its own."""
    weights = [exp(i * (order[0] + 2)), exp(j * (order[0] + 2))]
    formula = eq(total(i, 1, n, weights[0] / total(j, 1, n, weights[1])), 1)
    found = {}
    for least in order:
        with at_least(n=least):
            found[least] = canonical_formula(formula)
    assert found[1] is eq(0, 0) and found[0] is not found[1]


def test_each_thread_has_a_budget_of_its_own():
    with ThreadPoolExecutor(1) as pool, limited(10):
        pool.submit(spend, 1000).result()
        spend(10)
        with pytest.raises(TooLarge):
            spend(1)
