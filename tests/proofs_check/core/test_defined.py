"""What has no value, wherever it stands: in a hypothesis, an alternative, an argument, a point that is named."""

import itertools
from fractions import Fraction

import pytest

from proofs_check.core.certificate import Outcome, arranged, check_certificate, citable
from proofs_check.core.rules import Rejected
from proofs_check.core.statement import from_data
from proofs_check.core.terms import Malformed, Term, num
from proofs_check.core.witness import closed, refutes
from proofs_check.core.work import TooLarge
from proofs_check.language import (
    PI,
    both,
    call,
    choice,
    define,
    each,
    either,
    eq,
    exists,
    exp,
    fold,
    implies,
    limit,
    log,
    ne,
    real,
    sequence,
    sqrt,
    supremum,
    total,
    unique_minimiser,
    var,
    when,
    whole,
)
from proofs_check.ledger.verdicts import summary
from proofs_check.rigour.decide import UNAIDED, Empty, decide
from tests.proofs_check.core.writing import certificate, claim, q, stated

x, y, z, n, i = real("x"), real("y"), real("z"), whole("n", 1), var("i")
s, m, u = sequence("s", n), whole("m", 1), real("u", 0, 1, open="low")
THIRD, PLANE, ALWAYS = Fraction(1, 3), [x, y], x <= x + 1
DIVIDED = unique_minimiser((x - y) ** 2, {x: y + 0 / y})
ONE = define("one", [var("a")], 1)
FIRST = define("first", [var("t")], var("t")[1])
AT = define("at", [var("t"), var("k")], var("t")[var("k")])


GUARDED = [log(x) > 0, x > 0]


def decided(*said, known=(ONE, FIRST)):
    return decide(stated("a", *said, known=known), UNAIDED)


def outcome(*said, **more):
    found = decided(*said, **more).checked
    return "open" if found is None else found.outcome.value


@pytest.mark.parametrize(("variables", "given", "says", "wanted"), [
    (x, GUARDED, x > 1, "proved"),
    (PLANE, [y / x >= 1, x > 0], y >= x, "proved"),
    (x, [sqrt(x) >= 1, x >= 0], x >= 1, "proved"),
    ([n, s, m], [s[m] > 1, m <= n], s[m] > 0, "proved"),
    (x, [both(log(x) >= 0, x > 0)], x >= 1, "proved"),
    (x, GUARDED, x > 2, "refuted"),
    (x, [log(x) < 0, x < 1], x < 1, "refuted"),
], ids=["log", "division", "root", "index", "both", "false", "unguarded"])  # fmt: skip
def test_hypotheses_mean_the_same_in_any_order(variables, given, says, wanted):
    for order in itertools.permutations(given):
        assert outcome(variables, says, *order) == wanted


@pytest.mark.parametrize(("variables", "parts", "wanted"), [
    (x, [log(x) <= x - 1, x <= 0], "proved"),
    (x, [log(x) <= x - 2, x <= 0], "refuted"),
    (PLANE, [y / x >= 1, y < x, x <= 0], "proved"),
    (x, [log(x) <= x - 1, x < 0], "refuted"),  # at 0 no part decides it
])  # fmt: skip
def test_alternatives_mean_the_same_in_any_order(variables, parts, wanted):
    for order in itertools.permutations(parts):
        assert outcome(variables, either(*order)) == wanted


@pytest.mark.parametrize(("said", "wanted"), [
    ((x, call("one", 1 / x) <= 1), "refuted"),
    ((x, call("one", 1 / x) <= 1, x > 0), "proved"),
    ((PLANE, ALWAYS, eq(x, 1 / y)), "refuted"),
    ((PLANE, eq(x * y, 1), y > 0, eq(x, 1 / y)), "proved"),
    ((PLANE, eq(x * y, 1), eq(x, 1 / y), y > 0), "proved"),
    ((PLANE, ALWAYS, eq(log(y), x)), "refuted"),
    (([n, s, x], ALWAYS, eq(x, fold("max", i, 2, n, s[i]))), "refuted"),
    ((choice("k", 0, 1), var("k") >= 0, 1 / var("k") <= 3), "refuted"),
    ((PLANE, exists({x: 1 / (y - y)}, y <= y + 1)), "poor"),
    ((PLANE, supremum(0 * y, 0, {x: log(-1 - y**2)})), "poor"),
    ((PLANE, DIVIDED), "refuted"),
    ((PLANE, DIVIDED, y > 0), "proved"),
    (([real("y", -1, 1), real("x", 0, 1 / y)], x < 0), "refuted"),
    (([real("y", 1, 2), real("x", 0, 1 / y)], exists({x: 1 / y}, x * y >= 1)), "proved"),
    (([real("y", -1, 2), real("x", 0, 1 / y)], exists({x: 1 / y}, x * y >= 1), y > 0), "refuted"),
])  # fmt: skip
def test_an_argument_an_equality_an_end_and_a_point_owe_their_values(said, wanted):
    assert outcome(*said) == wanted


@pytest.mark.parametrize("given", [eq(x, log(-1 - y**2)), eq(x, sqrt(-1 - y**2)), eq(x, Term("div", num(1), y - y))])
def test_an_equality_that_has_a_value_nowhere_is_met_nowhere(given):
    with pytest.raises(Empty):
        decided(PLANE, ALWAYS, given)


def test_a_number_is_taken_by_value_and_a_body_that_reads_it_asks_for_nothing_more():
    double = define("double", [var("a")], var("a") + var("a"))
    guarded = define("guarded", [var("a")], total(i, 1, 0, var("a")))
    for definition, wanted in ((double, "refuted"), (guarded, "refuted")):
        value = call(definition[0], 1 / x)
        assert outcome(x, value <= value + 1, known=[definition]) == wanted
    plain = claim(call("double", 1 / x) < 3, x, using=[double])
    assert plain.plain[2] is (1 / x + 1 / x < 3)
    assert from_data(plain.to_json()) == plain


@pytest.mark.parametrize(("called", "using"), [
    (call("first", each(i, 1 / (i - 2))), FIRST),
    (call("at", each(i, log(i - 2)), num(1)), AT),
    (call("one", each(i, 1 / x)), ONE),
    (call("first", each(i, when(i < 2, 0, 1 / x))), FIRST),
    (call("first", each(i, when(i < 2, 0, 1 + 1 / x))), FIRST),
    (call("first", each(i, when(i < 2, 1 / x, 0))), FIRST),
    (call("first", each(i, when(1 / (i - 2) < 0, 1, 2))), FIRST),
    (call("first", each(i, sqrt(i - 2))), FIRST),
    (call("first", each(i, total(var("k"), 1, i, 1 + log(x)))), FIRST),
    (call("first", each(i, total(var("k"), 1, i, 1 / (var("k") - 2)))), FIRST),
    (call("first", each(i, fold("max", var("k"), i, 1, x))), FIRST),
])  # fmt: skip
def test_a_sequence_with_gaps_is_refused_where_only_some_items_are_read(called, using):
    with pytest.raises(Malformed, match="items without a value"):
        claim(called <= 1, x, using=[using])


def test_an_item_at_a_place_of_its_own_may_be_a_gap():
    with pytest.raises(Malformed, match="items without a value"):
        claim(call("first", each(i, when(i < 2, 0, s[5]))) <= 1, n, s, using=[FIRST])


def test_a_sequence_with_gaps_may_be_gone_through():
    k, tail = var("k"), sequence("r", n)
    assert claim(call("first", each(i, total(k, 1, i, 1 + 0 * tail[k]))) > 0, n, tail, using=[FIRST]) is not None
    mean = define("mean", [var("t"), var("k")], total(i, 1, var("k"), var("t")[i]))
    called = call("mean", each(i, 1 / (i + x)), var("n"))
    assert outcome([n, x], called > 0, x > 0, known=[mean]) == "proved"
    assert outcome([n, x], called > 0, known=[mean]) == "refuted"
    assert outcome(x, call("first", each(i, 1 / x)) > 0) == "refuted"


@pytest.mark.parametrize("says", [
    unique_minimiser(-exp(y), {y: y}),
    unique_minimiser(x * y, {x: x + 0 * y, y: y}),
    exists({x: x}, ALWAYS),
    supremum(x, 1, {x: 2 - x}),
])  # fmt: skip
def test_a_point_is_written_without_the_variables_that_it_gives(says):
    with pytest.raises(Malformed, match="the variables that it gives"):
        claim(says, x, y)


@pytest.mark.parametrize("said", [
    (u, limit(1 + 3 * u, 1, u, 2)),
    (u, limit(2 + u, 1, u, 2)),
    (PLANE, exists({x: y - 1}, x > y)),
    (real("x", 0, 1), supremum(x, 1, {x: THIRD})),
    ([real("x", 0, 1, open=True), u], supremum(x, 1, {x: 1 - u / 2}, u, THIRD, attained=False)),
])  # fmt: skip
def test_a_poor_choice_leaves_the_claim_open(said):
    found = decided(*said)
    assert found.checked.outcome is Outcome.POOR
    told = summary(found.checked)
    assert (told["outcome"], told["choice_only"]) == ("open", True) and "for another is open" in told["message"]
    assert told["strength"] != "proved"


@pytest.mark.parametrize(("given", "says", "point", "lacks"), [
    ([log(x) > 0], x > 1, {"x": 0}, "log(x) has no value"),
    ([], x / x <= 1, {"x": 0}, "x/x has no value"),
    ([x < 1], x < 0, {"x": THIRD}, ""),
])  # fmt: skip
def test_a_witness_names_the_term_without_a_value(given, says, point, lacks):
    made = claim(says, x, given=given)
    place = {name: str(value) for name, value in point.items()}
    told = summary(check_certificate(made, certificate(made, witness=["conclusion", place])))
    assert told["outcome"] == "refuted"
    assert told["at"]["lacks"].startswith(lacks) and bool(lacks) == bool(told["at"]["lacks"])


@pytest.mark.parametrize(("given", "says"), [
    ([x <= Fraction(3, 7), x >= Fraction(3, 7)], eq(7 * x, 3)),
    ([3 * x <= 1, 3 * x >= 1], x < 1),
    ([x**2 <= 2, x**2 >= 2, x >= 0], x <= Fraction(3, 2)),
    ([x <= y, y <= x], eq(2 * x, x + y)),
    ([eq(z, n)], z >= 1),
    ([eq(n, z)], z >= 1),
])  # fmt: skip
def test_hypotheses_that_leave_a_number_one_value_are_met_there(given, says):
    assert outcome([x, y, z, n], says, *given) == "proved"


# The first 60 digits of e and of pi: constants that only 200 bits tell from the numbers.
E_ = 271828182845904523536028747135266249775724709369995957496696
PI_ = 314159265358979323846264338327950288419716939937510582097494
SCALE = 10**59


@pytest.mark.parametrize("variables", [[], [x, n]])
@pytest.mark.parametrize(("says", "wanted"), [
    (exp(1) > Fraction(E_, SCALE), "proved"), (exp(1) < Fraction(E_ + 1, SCALE), "proved"),
    (exp(1) < Fraction(E_, SCALE), "refuted"), (PI > Fraction(PI_ + 1, SCALE), "refuted"),
    (PI > Fraction(PI_, SCALE), "proved"), (ne(PI, Fraction(PI_, SCALE)), "proved"),
    (eq(sqrt(2) ** 2, 2), "proved"),
])  # fmt: skip
def test_a_comparison_without_variables_is_decided_by_its_value(variables, says, wanted):
    assert outcome(variables, says) == wanted


@pytest.mark.parametrize("word", ["both", None])
def test_an_unknown_open_is_refused(word):
    with pytest.raises(Malformed, match="which ends of x"):
        real("x", 0, 1, open=word)
    with pytest.raises(Malformed, match="which ends of s"):
        sequence("s", n, 0, 1, open=word)


def test_another_order_is_the_same_statement_and_nothing_else_is():
    guard, bad = x > 0, log(x) > 0
    base = q(either(log(x) > x, x < 7), x, given=(bad, guard))
    other = arranged(base, (guard, bad), either(x < 7, log(x) > x))
    assert other.given == (guard, bad)
    for given, goal in (((guard,), base.goal), ((guard, bad, x > 1), base.goal), (base.given, x < 7),
                        (base.given, both(x < 7, log(x) > x)), ((bad, x >= 0), base.goal)):  # fmt: skip
        with pytest.raises(Rejected):
            arranged(base, given, goal)
    assert arranged(q(implies(bad, guard), x), (), either(guard, log(x) <= 0)).goal.kind == "or"


def test_nothing_builds_on_a_part_that_was_proved_in_another_order():
    made = claim(x > 1, x, given=GUARDED)
    found = decide(made, UNAIDED).certificate
    assert found["proofs"]["conclusion"][0] == "ordered" and citable(made, found) is None
    turned = claim(x > 1, x, given=GUARDED[::-1])
    assert citable(turned, decide(turned, UNAIDED).certificate) is turned


@pytest.mark.parametrize("change", [
    lambda proof: [proof[0], proof[1][:1], *proof[2:]],  # a hypothesis left out
    lambda proof: [proof[0], proof[1][::-1], *proof[2:]],  # the order as it stands
    lambda proof: [proof[0], proof[1], proof[2], [], proof[4]],  # conditions left out
    lambda proof: proof[3:],
])  # fmt: skip
def test_a_forged_order_is_rejected(change):
    made = claim(x > 1, x, given=GUARDED)
    found = decide(made, UNAIDED).certificate
    forged = {**found, "proofs": {"conclusion": change(found["proofs"]["conclusion"])}}
    with pytest.raises(Rejected):
        check_certificate(made, forged)


def test_cases_are_told_apart_where_no_order_gives_each_hypothesis_a_value():
    """At 0 the first hypothesis has no value and the second fails, at 1 it is the other way round."""
    k = choice("k", 0, Fraction(1, 4), 1)
    given = [1 / k >= 2, 1 / (k - 1) <= Fraction(-4, 3)]
    for order in (given, given[::-1]):
        found = decided(k, eq(4 * k, 1), *order)
        assert found.checked.outcome is Outcome.PROVED and found.certificate["proofs"]["conclusion"][0] == "cases"
        assert outcome(k, eq(4 * k, 2), *order) == "refuted"
    sequent = q(k > 2, k, given=given)
    assert [refutes(sequent, {"k": at}) for at in k.values] == [False, True, False]


def test_the_index_of_a_fold_is_not_taken_for_a_number_of_the_point():
    with pytest.raises(Malformed, match="no number here"):
        closed(total(i, 1, var("m"), i), {"i": Fraction(7)})
    for low, high in ((1, exp(1)), (exp(1), 3), (1, 10**9)):
        with pytest.raises(TooLarge):
            closed(total(i, low, high, i), {})
    assert closed(total(i, 1, 2, i), {"i": Fraction(7)}) is num(1) + num(2)
    product, empty = fold("prod", i, 1, 2, 3 * i), fold("prod", i, 2, 1, 3 * i)
    assert closed(product, {}) is (num(3) * num(1)) * (num(3) * num(2)) and closed(empty, {}) is num(1)


def test_a_branch_that_is_not_taken_owes_nothing_at_a_witness():
    """The two sides are equal, which only their normal form shows; beyond the end of s nothing is read."""
    side = exp(1) + when(n >= 2, s[2], 0)
    sequent = q(eq(side, side + s[1]), n, s)
    assert not refutes(sequent, {"n": Fraction(1), "s": (Fraction(0),)})
    assert refutes(sequent, {"n": Fraction(1), "s": (Fraction(1),)})
