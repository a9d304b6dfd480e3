"""Each formula of a statement that theory/ has too, against theory's: to 45 digits where that is sympy or exact.

Where theory computes in doubles only, the tree is evaluated exactly at the doubles that theory gets, and rounding is
all that they may differ by.
"""

import ast
import random
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
import sympy as sp
from flint import arb

import proofs_check
from proofs_check.core.calls import unfold
from proofs_check.core.derive import derivative
from proofs_check.core.enclose import Evaluator, interval
from proofs_check.core.statement import Form
from proofs_check.core.terms import lift
from proofs_check.kv.formal import FORMAL as KV_FORMAL
from proofs_check.kv.formal import definitions as kv
from proofs_check.kv.formal import shifted_head
from proofs_check.language import each, positive, var
from proofs_check.oracles.landscape import ball_one_hot_logits, ball_one_hot_loss
from proofs_check.razor.cache import truncation_sizes as sizes
from proofs_check.razor.formal import FORMAL as RAZOR_FORMAL
from proofs_check.razor.formal import definitions as razor
from proofs_check.razor.formal import dropped_mass
from proofs_check.razor.formal import head_outputs as outputs
from proofs_check.razor.formal.compensation import WORST_SHARE
from proofs_check.resformer.formal import FORMAL as RESFORMER_FORMAL
from proofs_check.waiver.formal import FORMAL as WAIVER_FORMAL
from theory import alibi, induction
from theory.alibi import printed as alibi_printed
from theory.cache import budget as truncation_budget
from theory.cache import compensation, compensation_bounds, dropped, dropped_flat
from theory.cache import size as truncation_cache
from theory.induction import bounds, network, sharpness
from theory.induction import symbolic as induction_symbolic
from theory.landscape import critical_symbolic, printed, slice_critical, slice_symbolic, symbolic
from theory.lowering.numeric import numeric
from theory.lowering.precision import working
from theory.symbols import PARAMETERS, alpha1, alpha2, beta1, beta2, n_tokens, rest_logits, rest_scores, sigma, slope

POINTS, BITS, DIGITS = 20, 400, 45
FORMAL = {**KV_FORMAL, **RAZOR_FORMAL, **RESFORMER_FORMAL, **WAIVER_FORMAL}
SHARE, DOMAINS = {"eps", "delta"}, ("unit", "symmetric", "ball")
NAMED = {"alpha1": "a1", "alpha2": "a2", "beta1": "b1", "beta2": "b2", "n_tokens": "T", "slope": "m", "dim": "d",
         "copy_slope": "p", "span": "r"}  # fmt: skip
ON_SLICE = {"alpha1": "a", "beta1": "b", "n_tokens": "T"}


def opened(term, definitions):
    """The term with its definitions put in."""
    return unfold(term, {name: replace(known, rank=k) for k, (name, known) in enumerate(definitions)})


def part(name, *path):
    """A part of a statement's conclusion, with its definitions put in."""
    node = FORMAL[name].says
    for number in path:
        node = (node.terms if isinstance(node, Form) else node.parts)[number]
    return opened(node, FORMAL[name].definitions)


def draws(label, count=POINTS):
    """A source of random numbers, so many times."""
    return [random.Random(label)] * count


def eighth(rng, low=1, high=24):
    return Fraction(rng.randint(low, high), 8)


def ball(term, point):
    exact = {name: Fraction(value) if isinstance(value, int) else value for name, value in point.items()}
    low, high = interval(Evaluator(exact).value(term))
    return low.union(high)


def equal(term, point, true):
    """The two agree to DIGITS digits for sure."""
    size = 1 + abs(true)
    assert abs(ball(term, point) - true) < size * arb(10) ** -DIGITS, point


def close(term, point, true, tolerance=1e-12):
    with working(200):
        found = ball(term, point)
        assert abs(found - arb(float(true))) <= tolerance * (abs(found) + tolerance), (point, found, true)


def close_along(index, term, point, values, tolerance=1e-12):
    """The term has these values where the index is 1, 2, .."""
    for number, value in enumerate(values, start=1):
        close(term, point | {index: number}, value, tolerance)


def at_logits(values):
    return dict(zip(("a1", "a2", "b1", "b2"), values, strict=True))


def drawn(rng, symbol):
    """A value for a symbol of sympy, that meets its assumptions: eighths other than 0."""
    if symbol == n_tokens:
        return eighth(rng, 33, 200)
    if symbol.is_integer:
        return Fraction(rng.randint(1, 9))
    return eighth(rng) * (1 if symbol.is_nonnegative else rng.choice((-1, 1)))


# -- sympy on both sides ----------------------------------------------------------------------------------------------

TABLE = symbolic.interior_table()
LOSS = symbolic.loss(TABLE)
SLICE_LOSS = slice_symbolic.loss(slice_symbolic.exact_terms(TABLE))
EXACT_RESTS = {rest_scores: n_tokens - 2, rest_logits: (n_tokens - 4) * sp.exp((beta1 + beta2) / TABLE.partition)}
RHO = sp.Symbol("rho", real=True)
LEAST = slice_symbolic.on_slice(LOSS).subs({alpha1: 0, beta1: 1})
RATE = TABLE.partition * sum(
    count / (one + RHO * other)
    for count, (one, other) in zip(critical_symbolic.counts(), critical_symbolic.directions(), strict=True)
)
U = critical_symbolic.INVERSE
CRITICAL = critical_symbolic.at_critical
SUMS = (slice_critical.SLOPES,
        [beta1 * k - r for k, r in zip(slice_critical.K, slice_critical.R, strict=True)])  # fmt: skip
LISTING = slice_symbolic.slipped_terms(sp.Integer(100), printed.LISTING)
COPY = sharpness.COPY_ERROR_BOUNDS
MARGINS = {name: margin / slice_symbolic.on_slice(TABLE.partition)
           for name, margin in slice_symbolic.argmax_margins().items()}  # fmt: skip

FULL = {
    "counts": [*zip(kv.COUNTS, (sp.Integer(1), sp.Integer(2), n_tokens - 4), strict=True)],
    "slopes": [(kv.SLOPE[NAMED[p.name]], sp.diff(LOSS, p)) for p in PARAMETERS],
    "edge token of Table 3": (kv.PRINTED_EDGE, beta1 + beta2 * sp.exp(alpha2)),
    "Eq. 10 as printed": (part("kv.eq10", 2), symbolic.printed_loss().subs(EXACT_RESTS)),
    "footnote 12": (part("kv.appC.footnote12", 2), TABLE.classes[0].numerator / TABLE.partition),
    "loss there": (part("kv.beyond.critical_point", 1, 1), CRITICAL(LOSS)),
    "rate of anti-induction": (part("kv.beyond.route.anti_induction", 2), RATE),
    "Theorem 3.2": [(part(f"kv.thm3.2.{name}", k, 2), COPY[domain]) for name in ("sharp", "repaired")
                    for k, domain in enumerate(DOMAINS)],
    "eight times": (part("kv.thm3.2.eight", 1), 8 * COPY["unit"]),
}  # fmt: skip
SLICE = {
    "loss": (kv.ON_SLICE, SLICE_LOSS),
    "slice": (kv.ON_SLICE, slice_symbolic.on_slice(LOSS)),
    "odds": (kv.SLICE_ODDS, sp.exp(SLICE_LOSS) - 1),
    "slopes": [(derivative(kv.ON_SLICE, ON_SLICE[s.name]), sp.diff(SLICE_LOSS, s)) for s in (alpha1, beta1)],
    "conditions": [(part("kv.beyond.slice.conditions", 1, k, 1),
                    slice_critical.combine(slice_critical.weights(), slice_critical.Classes(*sums)))
                   for k, sums in enumerate(SUMS)],
    "margins": [(part("kv.beyond.box.minimiser", k, 1), MARGINS[name])
                for k, name in enumerate(("repeated", "edge", "other"))],
    "margins at the minimum": [(part("kv.beyond.box.minimiser", k, 2), MARGINS[name].subs({alpha1: 0, beta1: 1}))
                               for k, name in enumerate(("repeated", "edge", "other"))],
    "least loss": (part("kv.beyond.box.minimum", 0, 1), LEAST),
    "its expansion": (part("kv.beyond.box.minimum", 0, 1),
                      sp.log(n_tokens) + critical_symbolic.minimum_excess().subs(U, 1 / n_tokens)),
    "listing of Appendix L": [(part("kv.listing_l.levels", *path), slice_symbolic.loss(LISTING))
                              for path in ((0, 2), (1, 1), (4, 1))],
    "loss at T = 104": [(part("kv.listing_l.levels", *path), SLICE_LOSS.subs(n_tokens, 104))
                        for path in ((2, 2), (3, 1), (5, 1))],
}  # fmt: skip


def pairs(formulas):
    return formulas if isinstance(formulas, list) else [formulas]


@pytest.mark.parametrize("names", [pytest.param((FULL, NAMED), id="full"), pytest.param((SLICE, ON_SLICE), id="slice")])
def test_closed_forms_are_those_of_the_sympy_truth(names):
    formulas, named = names
    for label, found in formulas.items():
        for term, expression in pairs(found):
            symbols = sorted(expression.free_symbols, key=str)
            true = numeric(expression, symbols, "arb")
            for rng in draws(label):
                values = [drawn(rng, symbol) for symbol in symbols]
                point = dict.fromkeys(named.values(), Fraction(1, 3))  # what cancels may stand in the tree
                point |= {named.get(s.name, s.name): v for s, v in zip(symbols, values, strict=True)}
                with working(BITS):
                    equal(term, point, true(*values))


def test_closed_forms_are_those_of_attention_at_an_interior_position():
    rng, two = random.Random("interior"), part("kv.fig2.two_tokens.loss", 0, 2)
    for tokens, position in ((2, 1), (5, 2), (5, 3), (6, 2), (7, 5)):
        values = [drawn(rng, symbol) for symbol in PARAMETERS]
        point = at_logits(values) | {"T": tokens}
        with working(BITS):
            logits = ball_one_hot_logits(*values, tokens, position)
            loss = ball_one_hot_loss(*values, tokens, position)
            if tokens == 2:
                equal(two, point, loss)
                continue
            equal(kv.closed(kv.T, *kv.LOGITS), point, loss)
            equal(kv.odds(kv.T, *kv.LOGITS), point, loss.exp() - 1)
            other = next(k for k in range(tokens - 1) if k not in (position - 2, position - 1, position))
            for gap, place in zip(kv.gaps(*kv.LOGITS), (position - 1, tokens - 1, other), strict=True):
                equal(gap / kv.partition(kv.T, kv.a1, kv.a2), point, logits[place] - logits[position])


def test_every_statement_about_the_sentence_has_a_positive_t():
    """The closed forms come over for T > 0 and are put into statements under that name."""
    found = [v for statement in KV_FORMAL.values() for v in statement.variables if v.name == "T"]
    assert len(found) > 20
    assert all(v.low is not None and v.low.kind == "num" and v.low.parts[0] >= 2 for v in found)


# -- attention as sums over places ------------------------------------------------------------------------------------


def test_logits_and_loss_of_the_sentence_at_every_position():
    rng = random.Random("sentence")
    logit = opened(kv.call(kv.LOGIT, kv.j, kv.T, kv.i, *kv.LOGITS), kv.SENTENCE)
    loss = opened(kv.call(kv.LOSS, kv.T, kv.i, *kv.LOGITS), kv.SENTENCE)
    closed = part("kv.appC.every_position", 2)
    for tokens in range(2, 7):
        for position in range(1, tokens + 1):
            values = [drawn(rng, symbol) for symbol in PARAMETERS]
            place = at_logits(values)
            place |= {"T": tokens, "i": position}
            with working(BITS):
                true = numeric(symbolic.logits(tokens, position), PARAMETERS, "arb")(*values)
                for number, value in enumerate(true, start=1):
                    equal(logit, place | {"j": number}, value)
                    equal(closed, place | {"j": number}, value)
                if position < tokens:
                    table = symbolic.position_table(tokens, position)
                    equal(loss, place, numeric(symbolic.loss(table), PARAMETERS, "arb")(*values))


def test_the_weight_of_the_successor_without_an_own_key():
    scores = each(kv.s, kv.call(kv.SCORE, kv.s, kv.T, kv.i, 0, kv.gamma))
    weight = opened(kv.call(kv.WEIGHT, 1, kv.T + 1, scores, kv.i + 1), kv.SENTENCE)
    true = numeric(sp.exp(alpha2) / (sp.exp(alpha2) + n_tokens), (alpha2, n_tokens), "arb")
    for rng in draws("successor"):
        tokens, gamma = Fraction(rng.randint(2, 9)), drawn(rng, alpha2)
        point = {"T": tokens, "i": Fraction(rng.randint(1, int(tokens) - 1)), "gamma": gamma}
        with working(BITS):
            equal(weight, point, true(gamma, tokens))


HEAD = {"sigma": sigma, "m": slope}


@pytest.mark.parametrize(("length", "width"), [(3, 1), (4, 2), (5, 1)])
@pytest.mark.parametrize("support", [None, "inner", "causal"])
def test_heads_are_those_of_the_sympy_truth(support, length, width):
    """None is Definition 3.1; the others are KV-shifting heads on {2..L-1} and on {1..L}."""
    tokens = induction_symbolic.symbolic_tokens(length, width)
    mixing = PARAMETERS if support else ()
    if support is None:
        terms, head, over = induction_symbolic.induction_terms(tokens), kv.IH, ()
    else:
        terms = induction_symbolic.kv_shift_terms(tokens, support, PARAMETERS[:2], PARAMETERS[2:])
        head, over = kv.KVSA, (kv.a1, kv.a2, kv.b1, kv.b2, *((2, kv.L - 1) if support == "inner" else (1, kv.L)))
    symbols = [*HEAD.values(), *mixing, *(entry for row in tokens for entry in row)]
    true = numeric(list(induction_symbolic.attend(terms)), symbols, "arb")
    term = opened(kv.call(head, kv.x, kv.L, kv.d, kv.sigma, kv.m, *over, kv.c), kv.HEADS)
    for rng in draws(f"{support} {length}", 7):
        values = [drawn(rng, symbol) for symbol in symbols]
        rows = [values[-length * width :][k * width : (k + 1) * width] for k in range(length)]
        point = {"x": rows, "L": length, "d": width, "sigma": values[0], "m": values[1]}
        point |= dict(zip(("a1", "a2", "b1", "b2"), values[2 : 2 + len(mixing)], strict=bool(mixing)))
        with working(BITS):
            for number, value in enumerate(true(*values), start=1):
                equal(term, point | {"c": number}, value)


# -- doubles: two layers, masks, discrepancy --------------------------------------------------------------------------


def eighths(rng, *shape, low=-16, high=16):
    """Fractions as nested lists, and the same as an array of doubles."""
    whole = np.array([rng.randint(low, high) for _ in range(int(np.prod(shape)))]).reshape(shape)
    return np.vectorize(lambda k: Fraction(int(k), 8), otypes=[object])(whole).tolist(), whole / 8


def exactly(array):
    return tuple(map(exactly, array)) if np.ndim(array) else Fraction(float(array))


def layer_points(label, width=None):
    for rng in draws(label):
        length, d = rng.randint(3, 6), width or rng.randint(1, 3)
        rows, x = eighths(rng, length, d)
        numbers = {"sigma": Fraction(2) ** rng.randint(-1, 3), "m": eighth(rng, 0, 16)}
        numbers["p"] = eighth(rng, 1, 16)
        yield {"x": rows, "L": length, "d": d, **numbers}, x, [float(v) for v in numbers.values()]


@pytest.mark.parametrize("definition", [kv.TF, kv.REPAIRED], ids=["printed", "repaired"])
def test_two_layers(definition):
    how = {"first_mask": "causal", "key": "repaired"} if definition is kv.REPAIRED else {}
    term = opened(kv.call(definition, kv.x, kv.L, kv.d, kv.sigma, kv.m, kv.p, kv.c), kv.HEADS)
    for point, x, numbers in layer_points(definition[0]):
        close_along("c", term, point, network.two_layer_variant(x, *numbers, **how), 1e-10)


def test_two_layers_along_a_line():
    head = opened(kv.call(kv.LINE_IH, kv.x, kv.L, kv.kappa, kv.m), kv.HEADS)
    layers = opened(kv.call(kv.LINE_TF, kv.x, kv.L, kv.kappa, kv.m, kv.p), kv.HEADS)
    for point, x, numbers in layer_points("line", 1):
        on_line = point | {"x": [row[0] for row in point["x"]], "kappa": 1 / point["sigma"]}
        close(head, on_line, induction.induction_head(x, *numbers[:2])[0], 1e-10)
        close(layers, on_line, induction.two_layer_alibi(x, *numbers)[0], 1e-10)


def test_the_discrepancy_of_the_causal_head():
    share = opened(shifted_head.outer_share(shifted_head.CAUSAL_SCORES), kv.HEADS)
    for point, x, numbers in layer_points("discrepancy"):
        true = induction.discrepancy(x, *numbers[:2])
        close(share, point, true.epsilon, 1e-10)
        for side in (1, 2):
            close_along("c", part("kv.thm3.3.discrepancy", side), point, true.vector, 1e-10)


def test_the_change_of_a_softmax():
    bound = part("kv.appA.step2.sharp", 0, 2)
    for rng in draws("change"):
        n = rng.randint(1, 6)
        (z, one), (v, other) = eighths(rng, n), eighths(rng, n)
        close(bound, {"n": n, "z": z, "v": v}, bounds.softmax_change_bound(one - other))


# -- doubles: bounds as functions of numbers --------------------------------------------------------------------------

RANGES = {"n": (2, 30), "k": (1, 29), "w": (1, 12), "m": (1, 12), "L": (6, 20), "i": (1, 4), "d": (1, 9)}


def numbers(rng, names):
    """Shares below 1, whole numbers, and eighths above 0; a gap is at most the range D."""
    found = {}
    for name in names:
        if name in SHARE:
            found[name] = Fraction(rng.randint(1, 15), 16)
        elif name in RANGES:
            found[name] = rng.randint(*RANGES[name])
        else:
            found[name] = eighth(rng)
    if "gap" in found:
        found["gap"] = min(found["gap"], found["D"])
    return found


# a tree, its variables in the order of the function's arguments, the function
BOUNDS = {
    "weight": (part("razor.thm1.corrected", 0, 2), "k l D gap", alibi.weight_bound),
    "weight without a gap": (part("razor.thm1.corrected", 2, 2), "k l D", alibi.weight_bound),
    "weight in the worst context": (part("razor.thm1.corrected", 3, 1, 2), "k l D a",
                                    lambda *point: alibi.weight_bound(*point[:3])),
    "scope": (part("razor.thm1.corrected", 1, 0, 1), "l D eps", alibi.scope),
    "scope that is reached": (part("razor.thm1.corrected", 3, 0, 2), "l D eps", alibi.scope),
    "mass beyond": (dropped_mass.BEYOND, "w l D", alibi.dropped_mass_bound),
    "mass beyond, with sinks": (part("razor.sec3.1.sinks", 1), "w l D", alibi.dropped_mass_bound),
    "window": (dropped_mass.ENOUGH, "l D delta", alibi.window_for_mass),
    "scope without position": (part("razor.sec3.2.no_decay", 0, 0, 1), "D eps",
                               lambda *point: np.exp(dropped_flat.log_scope(*point))),
    "the same, reached": (part("razor.sec3.2.no_decay", 1, 0, 2), "D eps",
                          lambda *point: np.exp(dropped_flat.log_scope(*point))),
    "mass without position": (part("razor.sec3.2.flat_mass", 0, 2), "n m D", dropped_flat.mass_bound),
    "Lambda": (part("razor.eq5.log_mass", 2), "r", compensation_bounds.log_mass_bound),
    "masses": (part("razor.eq5.gaps", 0, 2), "r", compensation_bounds.mass_gap_bound),
    "means": (part("razor.eq5.gaps", 2, 2, 0), "r", lambda r: compensation_bounds.mean_gap_bound(r) ** 2),
    "worst share": (WORST_SHARE, "r", compensation_bounds.worst_share),
    "copying as printed": (part("kv.thm3.2", 2), "d sigma p", bounds.printed_copy_error_bound),
    "eight times": (part("kv.thm3.2.eight", 2), "d sigma p", bounds.printed_copy_error_bound),
    "one match": (part("kv.thm3.3.discrepancy.matched", 2), "L i sigma m", bounds.matched_discrepancy_bound),
    "the ball": (part("kv.thm3.3.discrepancy.ball", 0, 2), "L sigma m", bounds.ball_discrepancy_bound),
    "the latest match": (part("kv.sec3.1.any_context.corrected", 1), "L i k sigma m",
                         bounds.latest_successor_bound),
}  # fmt: skip


@pytest.mark.parametrize("label", BOUNDS)
def test_bounds_are_those_of_the_functions(label):
    term, names, function = BOUNDS[label]
    for rng in draws(label):
        found = numbers(rng, names.split())
        close(term, found, function(*map(float, found.values())), 1e-11)


def test_the_mass_of_a_context_of_a_known_length():
    bound = part("razor.sec3.1.output_attained", 1, 2)
    for rng in draws("length"):
        point = numbers(rng, ("w", "l", "D"))
        point["n"] = point["w"] + rng.randint(1, 9)
        found = alibi.dropped_mass_bound(*(float(point[name]) for name in ("w", "l", "D", "n")))
        close(bound, point, found, 1e-11)


# -- RazorAttention's heads, budgets and caches -----------------------------------------------------------------------


def test_two_logits_reach_the_gap_of_two_points():
    gap = part("razor.eq5.log_mass.sharp", 1, 1).parts[1].parts[1]  # of bound - gap
    symbols = (compensation_bounds.share, compensation_bounds.span)
    true = numeric(compensation_bounds.TWO_POINT_GAP, symbols, "arb")
    for rng in draws("two points"):
        n = rng.randint(2, 12)
        point = {"n": n, "u": Fraction(rng.randint(1, n - 1)), "a": eighth(rng, -16, 16)}
        point["r"] = eighth(rng)
        with working(BITS):
            equal(gap, point, true(point["u"] / n, point["r"]))


def heads(label):
    """Dropped logits s and values v, kept ones t and w, as fractions and as one head with a mask."""
    for rng in draws(label):
        n, m = rng.randint(1, 5), rng.randint(1, 5)
        (s, s_), (v, v_), (t, t_), (w, w_) = (eighths(rng, size) for size in (n, n, m, m))
        point = {"s": s, "v": v, "t": t, "w": w, "n": n, "m": m}
        weight = float(np.mean(s_) + np.log(n))
        mask = np.arange(n + m) < n
        logits, values = np.concatenate([s_, t_]), np.concatenate([v_, w_])[:, None]
        yield point, compensation.compare(logits, values, mask, weight, np.mean(v_, keepdims=True))


def test_outputs_with_and_without_the_dropped_tokens():
    s, v, n, kept, w, m = outputs.heads
    formulas = {
        "full": outputs.output(*outputs.heads), "truncated": outputs.cut(kept, w, m),
        "compensated": outputs.compensated(*outputs.heads), "dropped_mean": outputs.dropped_mean(s, v, n),
        "token_value": outputs.average(v, n), "mass": outputs.share(s, n, kept, m),
        "token_mass": outputs.share_hat(s, n, kept, m),
    }  # fmt: skip
    for point, true in heads("outputs"):
        for name, term in formulas.items():
            close(opened(term, outputs.OUTPUTS), point, np.ravel(getattr(true, name))[0], 1e-10)


def test_when_a_token_is_worse_than_dropping():
    excess = part("razor.sec1.proved.corrected", 0, 1, 2)
    for point, true in heads("excess"):
        columns = point | {"e": 1, "v": [[x] for x in point["v"]], "w": [[x] for x in point["w"]]}
        errors = [np.sum((true.full - other) ** 2) for other in (true.compensated, true.truncated)]
        close(excess, columns, (errors[0] - errors[1]) / true.token_mass, 1e-9)


def test_weights_and_masses_under_alibi():
    weight = opened(razor.attention(razor.s, razor.slope, razor.n, var("j")), [razor.ATTENTION])
    mass = opened(razor.mass(razor.s, razor.slope, razor.n, var("w")), [razor.MASS])
    for rng in draws("alibi"):
        n = rng.randint(2, 6)
        (s, logits), rate, window = eighths(rng, n), eighth(rng, 1, 16), rng.randint(1, n - 1)
        biased = logits - float(rate) * (n - np.arange(1, n + 1))
        point = {"s": s, "n": n, "l": rate, "w": window}
        close_along("j", weight, point, dropped.attend(biased, np.eye(n)))
        found = dropped.truncate(biased, np.ones((n, 1)), np.arange(n) < n - window)
        close(mass, point, found.mass)


def layers_of_heads(label):
    for rng in draws(label):
        n = rng.randint(1, 5)
        made = {name: eighths(rng, n, low=1, high=24) for name in ("l", "c", "D")}
        yield rng, n, {name: pair[0] for name, pair in made.items()}, {name: pair[1] for name, pair in made.items()}


def test_a_budget_split_over_simple_windows():
    for rng, n, point, arrays in layers_of_heads("simple"):
        budget = Fraction(rng.randint(1, 16), 128)
        true = truncation_budget.split_budget(arrays["l"], float(budget), arrays["c"])
        close_along("j", dropped_mass.split, {**point, "n": n, "eta": budget}, true)


def test_a_budget_split_over_sharp_windows():
    """At the costs `price` the masses p are the best ones, whatever the level."""
    windows = dropped_mass.sharp_windows(var("p")[var("j")])
    for rng, n, point, arrays in layers_of_heads("sharp"):
        masses, p = eighths(rng, n, low=1, high=4)
        point |= {"n": n, "p": [x / 8 for x in masses], "z": Fraction(rng.randint(1, 16), 8)}
        costs = [float(ball(dropped_mass.price, point | {"j": number}).mid()) for number in range(1, n + 1)]
        true = truncation_budget.split_budget(arrays["l"], float(np.dot(costs, p / 8)), costs, arrays["D"])
        np.testing.assert_allclose(true, p / 8, rtol=1e-9)
        lengths = [alibi.window_for_mass(rate, wide, x) for x, rate, wide in zip(p / 8, arrays["l"], arrays["D"],
                                                                                 strict=True)]  # fmt: skip
        close(windows, point, sum(lengths))


def test_shares_of_a_cache_are_the_exact_ones():
    kept = opened(sizes.KEPT(var("n")), [(named.name, named.definition) for named in sizes.TABLE_2])
    for length in (1, 15, 3999, 4000, 4001, 7500, 8000, 12_345, 16_000, 19_999, 20_000, 20_001, 10**6, *range(50, 57)):
        assert Evaluator({"n": Fraction(length)}).value(kept) == truncation_cache.kept_share(length)


@pytest.mark.parametrize("norm", ["rms", "layer"])
def test_gains_of_one_size_have_the_norm_product_of_theory(norm):
    """most and 2 (|gamma|^2 + |b|^2) of the statement, for a bias in the sphere's own directions."""
    says = part("razor.thm1.one_size")
    most, bound = says.parts[2].parts[0].parts[1:]
    for rng in draws(norm):
        d = rng.randint(2, 5)
        raw, size = [eighth(rng, -16, 16) for _ in range(d)], eighth(rng, 1, 16)
        signs = [rng.choice((-1, 1)) for _ in range(d)] if norm == "rms" else [1] * d
        point = {"d": d, "c": Fraction(norm == "layer"), "z": size, "w": list(map(Fraction, signs)), "b": raw}
        shift = [x - (sum(raw) / d if norm == "layer" else 0) for x in raw]
        gains = [float(size) * sign for sign in signs]
        true = alibi_printed.printed_condition(gains, list(map(float, shift)), norm)
        close(bound, point, true.bound, 1e-9)
        close(most, point, (true.low + true.high) / 2, 1e-9)


def test_the_scope_as_printed_for_a_head_of_one_dimension():
    """Frobenius' norm of the product is then the spectral one; the statement solves Eq. 2 for the slope."""
    (solved,) = [g for g in FORMAL["razor.thm1"].given if g.kind == "rel" and g.parts[0] == "="]
    least = opened(solved.parts[2], FORMAL["razor.thm1"].definitions).parts[0] - lift(positive("z"))
    for rng in draws("printed"):
        d = rng.randint(1, 4)
        (gains, gamma), (bias, b), (p, w_q), (r, w_k) = (eighths(rng, *shape) for shape in ((d,), (d,), (1, d), (1, d)))
        point = {"d": d, "e": 1, "c": 1, "g": gains, "b": bias, "p": p, "r": r}
        point |= {"eps": Fraction(rng.randint(1, 15), 16), "z": 0}
        close(least, point, alibi.printed_scope(w_q, w_k, gamma, b, 1.0, float(point["eps"])), 1e-9)


@pytest.mark.parametrize("paper", ["kv", "razor", "resformer", "waiver"])
def test_a_statement_is_written_in_ten_lines_beside_its_definitions(paper):
    room = Path(proofs_check.__file__).parent / paper
    files = [*room.glob("formal.py"), *room.glob("formal/*.py")]
    calls = [node for file in files for node in ast.walk(ast.parse(file.read_text("utf-8")))
             if isinstance(node, ast.Call) and getattr(node.func, "id", "") in ("statement", "states")]  # fmt: skip
    assert len(calls) > 10
    assert [ast.unparse(call.args[0]) for call in calls if call.end_lineno - call.lineno + 1 > 10] == []
