"""Each rule as it is meant; and the ways to a false proof that were tried."""

from fractions import Fraction

import pytest

from proofs_check.core.certificate import Outcome, building_on, check_certificate
from proofs_check.core.domain import Variable, needed
from proofs_check.core.rules import RULES, Rejected
from proofs_check.core.rules import check as check_written
from proofs_check.core.statement import from_data, obligations
from proofs_check.core.terms import Malformed, Term, num, to_json
from proofs_check.language import (
    absolute,
    both,
    choice,
    each,
    either,
    eq,
    exp,
    fold,
    implies,
    log,
    ne,
    positive,
    real,
    sequence,
    sqrt,
    total,
    unique_zero,
    var,
    when,
    whole,
)
from tests.proofs_check.core.test_obligations import CASES
from tests.proofs_check.core.writing import certificate, claim, q, written

x, y, v = map(var, "xyv")
i, j, k, n, s = map(var, "ijkns")
X, Y, N, S = real("x"), real("y"), whole("n", 1), sequence("s", n)
POSITIVE, UNIT = positive("x"), real("x", 0, 1)
HALF = Fraction(1, 2)
IDENTITY, KNOWN, SIGNS = ["identity"], ["known"], ["signs", [], {}]
NATURAL = ["natural", 0]
WHOLE_UNIT, AT_LEAST = ["0", "1"], q(x >= 0, X)


def linear(*products):
    """The sum of these products of facts, each of them once."""
    return ["linear", [["1", product] for product in products]]


AT_LEAST_0, NONE = real("x", 0), whole("n", 0)
NOTHING = q(num(0) > 0, N)
PLACES, COUNT, LOW_FACE = total(i, 1, n, i), total(i, 1, n, 1), ["face", "x", True, False]


def check(sequent, proof):
    check_written(sequent, written(proof))


SQUARE = written(linear([["square", x, []]]))

# The rules that ask for little, each used as it is meant; what the others ask for is written down in `obligations.txt`.
ACCEPTED = {
    "known": (q(x - 1 <= y, X, Y, given=[x <= y + 1]), ["known"]),
    "solve": (q(x <= 2 * y, X, real("y", 0), given=[eq(x, y)]), ["solve", 0, "x", SIGNS]),
    "identity": (q(eq((x + 1) ** 2, x**2 + 2 * x + 1), X), IDENTITY),
    "linear": (q(x * y <= (x**2 + y**2) / 2, X, Y), ["linear", [["1/2", [["square", x - y, []]]]]]),
    "signs": (q(x * y + 1 > 0, POSITIVE, real("y", 0)), SIGNS),
    "boxes": (q(x * (1 - x) < 1, UNIT),
              ["boxes", 64, {"x": ["0", "1"]}, [["cut", "x", "1/2"], ["natural", 0], ["natural", 0]]]),
}


def test_each_rule_is_tried_and_says_why_it_is_sound():
    assert {rule for rule, *_ in CASES.values()} | ACCEPTED.keys() == RULES.keys()
    assert [name for name, rule in RULES.items() if not rule.__doc__] == []


@pytest.mark.parametrize("rule", ACCEPTED)
def test_a_rule_proves_what_follows(rule):
    check(*ACCEPTED[rule])


def refused(sequent, proof, why=None):
    with pytest.raises(Rejected, match=why):
        check(sequent, proof)


def rejected(told, why=None, known=None, **parts):
    with pytest.raises(Rejected, match=why):
        check_certificate(told, certificate(told, **parts), known)


# -- what is undefined somewhere ------------------------------------------------------------------------------------

AWAY = ["alternatives", 0, linear([2, 2]), linear([3, 3])]


def test_induction_goes_only_through_values_where_the_goal_is_defined():
    # True at 1, undefined at 2, false from 3 on; from 3 on is all that the hypothesis leaves.
    goal = either(1 / (n - 2) < 0, n <= 2)
    sequent = q(goal, N, given=[n >= 3])
    refused(sequent, ["induct", "n", [], ["either", 0, IDENTITY], KNOWN], "1 conditions and 0 proofs")
    refused(sequent, ["induct", "n", [IDENTITY], ["either", 0, IDENTITY], KNOWN], "differ by no constant")


def test_only_what_is_unequal_is_less_or_greater():
    refused(q(x < y, X, Y, given=[x <= y]), ["alternatives", 0, KNOWN, KNOWN], "as many proofs")


def test_induction_keeps_no_hypothesis_on_its_number():
    """One on n says nothing at n + 1: kept, it would make of 'n >= 3 implies n != 3' an induction."""
    step = ["linear", [["1", [1]], ["1", []]]]
    refused(q(ne(3, n), N, given=[n >= 3]), ["induct", "n", [], IDENTITY, step], "has no sign")


def test_a_place_in_a_fold_is_defined():
    place = when(1 / x < 0, 1, 1)
    refused(q(x**2 > 0, X, N), ["split_sum", PLACES, place, [], ["split", IDENTITY, KNOWN], AWAY], "conditions")


# -- scopes ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("free_name", ["i", "i'", "zz"])
def test_a_primitive_has_no_name_of_its_own(free_name):
    primitive = each(j, j + var(free_name))
    for sequent in (NOTHING, q(num(0) > 0, N, real("i"))):
        proof = ["telescope", COUNT, primitive, num(1), [], SIGNS, IDENTITY]
        if not (free_name == "i" and len(sequent.variables) == 2):
            refused(sequent, proof, "not declared")


def test_names_that_are_taken_or_unknown():
    refused(AT_LEAST, ["generalise", var("zz"), {"name": "v"}, x >= 0, [], [], [], SIGNS], "not declared")
    refused(AT_LEAST, ["generalise", x, {"name": "v", "low": var("zz")}, v >= 0, [], [KNOWN], [], SIGNS])
    refused(AT_LEAST, ["generalise", x, {"name": "v", "low": v}, v >= 0, [], [KNOWN], [], SIGNS])
    refused(AT_LEAST, ["have", Term("call", "f", x) <= 0, [], IDENTITY, KNOWN], "unfolded")
    hidden = q(total(x, 1, 3, x) <= x, real("x", 6))
    refused(hidden, [*LOW_FACE, [], IDENTITY, ["enumerate", "x", IDENTITY]])
    check(hidden, [*LOW_FACE, [], IDENTITY, IDENTITY])


def test_an_empty_sum_tells_nothing_of_what_its_terms_divide_by():
    refused(q(x**2 > 0, X, NONE, given=[total(i, 1, n, 1 / x) >= 0]), linear([["square", x, []]]))


@pytest.mark.parametrize("place", [num(HALF), x, n / 2])
def test_a_sum_is_split_and_a_largest_has_members_at_whole_numbers(place):
    ways = [], ["split", IDENTITY, KNOWN], SQUARE
    for rule, one in (("split_sum", total(i, 1, n, s[i])), ("member", fold("max", i, 1, n, s[i]))):
        refused(q(x**2 >= 0, X, N, S), [rule, one, place, *ways], "no whole numbers by their shape")


SHARES = total(i, 1, n, exp(s[i]) / total(j, 1, n, exp(s[j])))


def test_the_shares_of_nothing_are_not_one():
    check(q(eq(SHARES, 1), N, S), IDENTITY)
    refused(q(eq(SHARES, 1), NONE, S), IDENTITY)
    refused(q(eq(SHARES, 1), NONE, S), ["have", eq(SHARES, 1), [], IDENTITY, KNOWN])
    # By a divisor that mentions the index until a value is put, or in form only.
    blurred = total(i, 1, n, exp(s[i]) / (total(j, 1, n, exp(s[j])) + x * i))
    refused(q(eq(blurred, 1), NONE, S, real("x", 0, 0)), ["enumerate", "x", IDENTITY])
    refused(q(eq(total(i, 1, n, i * exp(s[i]) / (i * total(j, 1, n, exp(s[j])))), 1), NONE, S), IDENTITY)
    # What is known of a variable is not known of an index that hides it.
    hiding = total(k, 1, var("m"), total(n, 0, k, 1) / total(k, 1, var("m"), total(n, 0, k, 1)))
    refused(q(eq(hiding, 1), N, whole("m", 0)), IDENTITY)
    check(q(eq(hiding, 1), N, whole("m", 1)), IDENTITY)


# -- arithmetic -----------------------------------------------------------------------------------------------------


def test_combinations():
    refused(q(num(0) > 0, X), ["linear", []], "does not give")
    check(q(x**2 >= 0, X), linear([["square", x]]))  # nothing is asked of what has a value everywhere
    refused(q(x * y >= 0, X, Y, given=[either(x > 0, y > 0)]), linear([0, 0]))
    refused(q(x > 0, X), linear([["log", x, []]]))


def test_signs():
    check(q(sqrt(x) + absolute(y) >= 0, AT_LEAST_0, Y), SIGNS)
    check(q(x / (1 + y) > 0, POSITIVE, real("y", 0)), SIGNS)
    refused(q(x / (1 + y) > 0, POSITIVE, Y), SIGNS)
    refused(q(x >= 0, real("x", -1)), SIGNS)
    check(q(1 / x > 0, AT_LEAST_0), SIGNS)  # that it has a value is asked for besides
    check(q(x + 2 > 0, X, given=[x > -1]), ["signs", [["v", [0], []]], {"x": v - 1}])
    check(q(x * (1 - x) > 0, X, given=[x > 0, x < 1]), ["signs", [["v", [0], [1]]], {"x": v / (1 + v)}])
    check(q(x + 1 >= 0, X, given=[x >= -1]), ["signs", [["v", [0], []]], {"x": v - 1}])
    check(q(1 - x > 0, X, given=[x < HALF]), ["signs", [["v", [0], []]], {"x": HALF - 2 * v / 2}])
    refused(q(x + 1 > 0, X, given=[x >= -1]), ["signs", [["v", [0], []]], {"x": v - 1}])
    refused(q(sqrt(x) > 0, AT_LEAST_0), SIGNS)
    refused(q(total(i, 1, n, exp(s[i])) > 0, NONE, S), SIGNS)
    refused(q(total(i, 1, n, i - 1) > 0, N), SIGNS)
    refused(q(total(i, 1, n, i - 2) >= 0, N), SIGNS)
    refused(q(x**3 >= 0, X), SIGNS)
    refused(q(x**-3 >= 0, X), SIGNS)
    refused(AT_LEAST, ["signs", [], {"x": x / x * x}], "undefined")


# -- boxes ----------------------------------------------------------------------------------------------------------

@pytest.mark.parametrize(("ends", "fine"), [(["0", "1/3"], True), (["0", "333333/1000000"], False)])
def test_a_root_holds_ends_that_no_binary_number_is(ends, fine):
    goal, proof = q(x < 1, real("x", 0, Fraction(1, 3))), ["boxes", 64, {"x": ends}, [NATURAL]]
    check(goal, proof) if fine else refused(goal, proof, "leaves out")


@pytest.mark.parametrize(
    ("goal", "variable", "root", "nodes"),
    [
        (x < 1, UNIT, ["0", "1/2"], [NATURAL]),
        (x < 1, UNIT, WHOLE_UNIT, [["cut", "x", "1/2"], NATURAL]),
        (x < 1, UNIT, WHOLE_UNIT, [["cut", "x", "2"], NATURAL, NATURAL]),
        (x < 2, UNIT, WHOLE_UNIT, [NATURAL, NATURAL]),
        (x < 2, UNIT, WHOLE_UNIT, [["natural", -1]]),
        (x < 1, UNIT, ["-1", "1"], [["none", 0]]),
        (x < 1, UNIT, WHOLE_UNIT, [["none", 5]]),
        (eq(x, 1), UNIT, WHOLE_UNIT, [NATURAL]),
        (x < 2, X, WHOLE_UNIT, [NATURAL]),
        (1 - absolute(2 * x - 1) < 1, UNIT, WHOLE_UNIT, [["mean", 0]]),
        (1 / x > 0, UNIT, WHOLE_UNIT, [NATURAL]),
        (x < 2, choice("x", 0, 2), WHOLE_UNIT, [NATURAL]),
        (x * (1 - x) <= 0, UNIT, WHOLE_UNIT, [["cut", "x", "0"], NATURAL, NATURAL]),
        (ne(x, 0), real("x", -1, 1), ["-1", "1"], [["cut", "x", "0"], ["natural", 1], NATURAL]),
    ],
)
def test_boxes_that_show_nothing(goal, variable, root, nodes):
    refused(q(goal, variable), ["boxes", 64, {"x": root}, nodes])


def test_whole_numbers_are_cut_between():
    cut = ["boxes", 64, {"x": WHOLE_UNIT}, [["cut", "x", "0"], NATURAL, NATURAL]]
    check(q(x * (1 - x) <= 0, whole("x", 0, 1)), cut)
    with pytest.raises(Malformed):
        Variable("x", whole=True, values=(HALF, Fraction(1)))
    with pytest.raises(Malformed):
        Variable.from_json({"name": "x", "whole": True, "values": ["1/2", "1"]})


# -- statements -----------------------------------------------------------------------------------------------------

def stated(goal):
    return {"name": "a", "for_all": [X.to_json()], "given": [], "says": goal, "definitions": []}


@pytest.mark.parametrize("name", ["1", "", "exp ", "х", "x\u200b", "a b", "\n"])
def test_an_index_is_called_by_a_name(name):
    good = ["rel", "<=", ["num", "0"], ["fold", "sum", "i", ["num", "1"], ["num", "3"], ["var", "i"]]]
    assert from_data(stated(good)).name == "a"
    good[3][2] = good[3][5][1] = name
    with pytest.raises(Malformed):
        from_data(stated(good))


def test_instances_prove_no_zero():
    told = claim(unique_zero([x**2 + 1], box={"x": (HALF / 2, HALF)}), UNIT)
    parts = {
        "elsewhere": [[], ["either", 0, ["apart", False, SIGNS]]],
        "box in the domain": [[], ["split", *4 * [IDENTITY]]],
    }
    at = {"x": "0"}
    rejected(told, "no instances", point=at, instances=[{"at": {}, "point": at, "proofs": parts}])
    rejected(told, r"interior|singular", point=at, proofs=parts)


@pytest.mark.parametrize(
    "data",
    [
        None, {}, {"point": {}}, {"witness": 5}, {"witness": ["conclusion", 5]}, {"witness": [[], {}]},
        {"witness": ["nothing", {"x": "0"}]}, {"witness": ["conclusion", {"x": "1/0"}]},
        {"witness": ["conclusion", {"x": "0", "y": "0"}]}, {"witness": ["conclusion", {"x": ["0"]}]},
        {"point": {"x": 0.5}}, {"point": {"x": "1"}}, {"point": {"x": "1"}, "proofs": 5},
        {"point": {"x": "1"}, "proofs": {"conclusion": 5}}, {"point": {"x": "1"}, "proofs": {"conclusion": [[], None]}},
        {"point": {"x": "1"}, "proofs": {"conclusion": [[IDENTITY], SQUARE]}},
        {"point": {"x": "1"}, "instances": {"a": 1}}, {"point": {"x": "1"}, "instances": []},
        {"point": {"x": "1"}, "instances": [5]}, {"point": {"x": "9" * 3000}, "proofs": {"conclusion": [[], SQUARE]}},
    ],
)  # fmt: skip
def test_whatever_is_wrong_with_a_certificate_it_is_rejected(data):
    told = claim(x**2 >= 0, X)
    if isinstance(data, dict) and data:
        data = certificate(told, **data)
    with pytest.raises(Rejected):
        check_certificate(told, data)


def _nested(depth):
    proof = ["absurd", IDENTITY]
    for _ in range(depth):
        proof = ["absurd", proof]
    return proof


ITSELF = ["absurd"]
ITSELF.append(ITSELF)
TOWER = num(2)
for _ in range(5):
    TOWER = TOWER**10**6


@pytest.mark.parametrize(
    "proof",
    [
        _nested(5000),
        ITSELF,
        ["boxes", 64, {"x": WHOLE_UNIT}, [["cut", "x", "1/2"]] * 100_000],
        *written([
            ["scale", TOWER, x < 1, [], [], IDENTITY, KNOWN],
            ["have", exp(num(10**1900) * log(2)) > 0, [], IDENTITY, KNOWN],
            ["have", (x + y + 1) ** 10**6 > 0, [], IDENTITY, KNOWN],
            ["have", sqrt(x) ** 10**6 > 0, [KNOWN], IDENTITY, KNOWN],
            ["have", total(i, 1, 10**9, total(j, 1, 10**9, i)) > 0, [], ["boxes", 64, {}, [NATURAL]], KNOWN],
        ]),
    ],
)  # fmt: skip
def test_no_proof_goes_on_for_ever(proof):
    with pytest.raises(Rejected):
        check_written(q(x > 0, UNIT, Y), proof)


def test_a_proof_that_is_used_twice_and_twice_again_ends(monkeypatch):
    monkeypatch.setattr("proofs_check.core.rules._WORK", 200_000)
    proof, yes = IDENTITY, to_json(num(0) <= num(1))
    for _ in range(100):
        proof = ["cases", yes, [], proof, proof]
    with pytest.raises(Rejected, match="work"):
        check_written(q(num(0) <= 0), proof)


def test_a_hypothesis_that_fails_everywhere_proves_nothing():
    told = claim(x > 7, X, given=[x < 0, x > 1])
    proof = ["absurd", linear([0], [1])]
    check(obligations(told)[0][1], proof)
    for point in ("-1", "0", "2"):
        rejected(told, "no point", point={"x": point}, proofs={"conclusion": [[], proof]})


def test_a_witness_meets_the_hypotheses():
    told = claim(x > 1, X, real("y", 0, x), given=[x * y > 1])
    for place in ({"x": "1/2", "y": "3"}, {"x": "1/2", "y": "1/2"}, {"x": "2", "y": "1"}):
        rejected(told, witness=["conclusion", place])
    false = claim(1 / x >= 0, X)
    for place in ("0", "-1"):
        found = check_certificate(false, certificate(false, witness=["conclusion", {"x": place}]))
        assert found.outcome is Outcome.REFUTED
    assert [c.goal for c in needed(obligations(false)[0][1])] == [ne(x, 0)]


def conclusion(defined, *proof):
    return {"point": {"x": "1"}, "proofs": {"conclusion": [defined, *proof]}}


def test_a_statement_builds_on_a_proved_one_over_the_same_domain_or_a_wider_one():
    proved, weaker = claim(x**2 > 0, POSITIVE), claim(x**2 > -1, POSITIVE)
    cited = conclusion([], linear([1], []), "known")
    assert check_certificate(weaker, certificate(weaker, **cited), proved).outcome is Outcome.PROVED
    narrower, assuming = claim(x**2 > 0, real("x", 1)), claim(x**2 > 0, POSITIVE, given=[x > 1])
    for known in (None, narrower, assuming):
        rejected(weaker, known=known, **cited)
    rejected(weaker, known=proved, **conclusion([], linear([1], [])))


def test_a_condition_of_definedness_is_cited_from_the_proved_statement():
    proved, weaker = claim(1 / x > 0, POSITIVE), claim(1 / x > -1, POSITIVE)
    ends = linear([1], []), "known"
    cited = conclusion([["cited", 0, KNOWN]], *ends)
    assert check_certificate(weaker, certificate(weaker, **cited), proved).outcome is Outcome.PROVED
    for known in (None, claim(1 / x > 0, POSITIVE, given=[x > 1]), claim(1 / (x + 1) > 0, POSITIVE)):
        rejected(weaker, known=known, **cited)
    for place, proof in ((1, KNOWN), (0, None), ("0", KNOWN)):
        rejected(weaker, known=proved, **conclusion([["cited", place, proof]], *ends))


@pytest.mark.parametrize("elsewhere", [claim(x / x <= 2, POSITIVE), claim(x / x <= 2, AT_LEAST_0, given=[x > 1])],
                         ids=["narrower", "assuming"])  # fmt: skip
def test_a_condition_that_is_known_elsewhere_is_not_known_here(elsewhere):
    """The goal itself is an identity: x/x = 1 wherever it is defined, and it is not at 0."""
    for proof in (KNOWN, ["alternatives", 0, KNOWN, KNOWN]):
        rejected(claim(x / x <= 2, AT_LEAST_0), known=elsewhere, **conclusion([["cited", 0, proof]], IDENTITY))


def test_beyond_its_domain_a_proved_statement_says_nothing():
    old = q(x > 0, real("x", 1, 2, open="high"))
    assert building_on(old, q(x > 0, real("x", 0, 3))).given == (implies(both(num(1) <= x, x < 2), x > 0),)
    assert building_on(old, q(x > 0, real("x", 1, 3))).given == (implies(x < 2, x > 0),)


@pytest.mark.parametrize(("old", "new"), [
    ([AT_LEAST_0], [whole("x", 0)]),
    ([choice("x", 0, 1)], [choice("x", 0, 1, 2)]),
    ([AT_LEAST_0], [real("y", 0)]),
    ([AT_LEAST_0], [AT_LEAST_0, Y]),
    ([N, sequence("s", n, 0)], [N, sequence("s", n, -1)]),
    ([N, sequence("s", n, 0)], [N, sequence("s", n + 1, 0)]),
    ([Y, real("x", 1 / y)], [Y, AT_LEAST_0]),
], ids=["wholeness", "values", "name", "count", "items", "size", "partial end"])  # fmt: skip
def test_a_proved_statement_about_something_else_is_of_no_use(old, new):
    with pytest.raises(Rejected):
        building_on(q(x > 0, *old), q(x > 0, *new))


SINE, COSINE = (Term("apply", wave, x.as_term()) for wave in ("sin", "cos"))


@pytest.mark.parametrize(
    ("name", "bounded"),
    [
        ("exp", exp(x)), ("square", x**2), ("abs", absolute(x)), ("abs-", absolute(x) - x), ("abs+", absolute(x) + x),
        ("sin-", 1 - SINE), ("sin+", 1 + SINE), ("cos-", 1 - COSINE), ("cos+", 1 + COSINE),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)  # fmt: skip
def test_each_named_fact_says_what_it_says_and_no_more(name, bounded):
    by_name = linear([[name, x, []]])
    check(q(bounded >= 0, X), by_name)
    refused(q(bounded >= Fraction(1, 1000), X), by_name, "combination")
    if name != "exp":
        refused(q(bounded > 0, X), by_name, "does not give <")
