"""Statements without hand-written evidence against oracles: both sides of what they compare, and where they hold.

Each side of a comparison has the value that brute force finds at drawn points: heads in balls from hidden states, the
listing in whole numbers, sums over places. The domain holds the least cases that the paper means.
"""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
import torch
from flint import arb

from dynamics.model.listing_m import Flaw, ListingDecoder, listing_convolution
from proofs_check.core import witness
from proofs_check.core.certificate import premise
from proofs_check.oracles.alibi import BallHead, ball_scores, ball_softmax, ball_weights, normalised, printed_scope
from proofs_check.oracles.alibi import ball as exact
from proofs_check.rigour.points.exact import as_fractions
from tests.proofs_check.test_formal_truth import BITS, FORMAL, ball, close, draws, eighth, eighths, equal, opened, part
from theory.cache import dropped_flat
from theory.induction import symbolic
from theory.lowering.numeric import numeric
from theory.lowering.precision import working
from theory.symbols import PARAMETERS, sigma, slope

POINTS = 8


def squares(*vectors):
    return sum((Fraction(x) ** 2 for vector in vectors for x in vector), Fraction(0))


def heads(label, rows):
    """Hidden states, gains, biases, W_Q and W_K (up to two rows) with a slope, as a point and as the oracle's head."""
    for number, rng in enumerate(draws(label, POINTS)):
        norm, d, e, n = ("rms", "layer")[number % 2], rng.randint(2, 4), 1 + number % rows, rng.randint(2, 4)
        h, g, b, p, r = (eighths(rng, *shape)[0] for shape in ((n, d), (d,), (d,), (e, d), (e, d)))
        h[0][0] += 9  # no two entries alike: no state is 0 after its mean is taken off
        h = [[x + Fraction(k * k, 7) for k, x in enumerate(row)] for row in h]
        rate = eighth(rng)
        point = {"n": n, "d": d, "e": e, "c": norm == "layer", "h": h, "g": g, "b": b, "p": p, "r": r, "l": rate}
        bias = b if norm == "layer" else [0] * d
        yield {**point, "c": Fraction(point["c"])}, BallHead(norm, tuple(g), tuple(bias), p, r, rate)


def test_the_weight_of_theorem_1_and_its_distance():
    """The weight of each token, and the slope at which it lies z / slope further than Eq. 2 allows (d_head = 1)."""
    weight, (_, solved) = part("razor.thm1", 1), FORMAL["razor.thm1"].given
    slope_of = opened(solved.parts[2], FORMAL["razor.thm1"].definitions)
    for point, head in heads("weight", 1):
        with working(BITS):
            for place, true in enumerate(ball_weights(head, point["h"]), start=1):
                equal(weight, point | {"j": place}, true)
            norm = exact(squares(*point["p"]) * squares(*point["r"])).sqrt()
            for place in range(1, point["n"]):
                eps, more = Fraction(place, 9), Fraction(3, 8)
                steep = ball(slope_of, point | {"j": place, "eps": eps, "z": more})
                beyond = point["n"] - place - printed_scope(head._replace(slope=steep), norm, eps)
                assert abs(beyond * steep - exact(more)) < arb(10) ** -40


def test_sizes_and_logits_of_post_norm_states():
    """Eq. 7 and 8: both sides; the product's norm is Frobenius', which for one row is the spectral one."""
    for point, head in heads("states", 2):
        state, bias = point["h"][0], head.bias
        one = {**point, "h": state}
        with working(BITS):
            equal(part("razor.eq7", 1), one, sum((x * x for x in normalised(head, state)), arb(0)))
            equal(part("razor.eq7", 2), one, exact(2 * squares(head.gamma) + 2 * squares(bias)))
            equal(part("razor.eq8", 1), one, ball_scores(head, [state])[0])
            p, r = point["p"], point["r"]
            middle = [
                sum(a[i] * b[j] for a, b in zip(p, r, strict=True))
                for i in range(len(state))
                for j in range(len(state))
            ]
            equal(part("razor.eq8", 2), one, exact(squares(middle)).sqrt() * exact(2 * squares(head.gamma, bias)))


def biased(label):
    """Logits of one query with its distances taken off, and the point."""
    for rng in draws(label, POINTS):
        n, rate = rng.randint(2, 6), eighth(rng, 1, 16)
        s, _ = eighths(rng, n)
        point = {"s": s, "n": n, "l": rate, "D": eighth(rng), "eps": Fraction(rng.randint(1, 15), 16)}
        yield rng, point, [exact(x - rate * (n - place)) for place, x in enumerate(s, start=1)]


def test_weights_the_last_step_and_the_mass_beyond_a_printed_window():
    mass = part("razor.sec3.1.discard", 1)
    for rng, point, scores in biased("mass"):
        reach = eighth(rng)
        with working(BITS):
            weights = ball_softmax(scores)
            for place, (score, weight) in enumerate(zip(scores, weights, strict=True), start=1):
                equal(part("razor.appA.last_step", 1), point | {"j": place}, weight)
                for path in ((0, 1), (1, 1, 1)):
                    equal(part("razor.thm1.corrected", *path), point | {"k": point["n"] - place}, weight)
                equal(part("razor.appA.last_step", 2), point | {"j": place}, score.exp())
            window = (exact(reach) - exact(point["eps"]).log()) / exact(point["l"])
            beyond = [w for place, w in enumerate(weights, start=1) if point["n"] - place > window]
            equal(mass, point | {"numerator": reach}, sum(beyond, arb(0)))


def test_heads_without_a_slope():
    """Weights, the worst context, the kept mass; and the bound on that: near the sharp one in a long context."""
    name = "razor.sec3.2.no_decay"
    for rng, point, _ in biased("flat"):
        window, many = rng.randint(0, point["n"] - 1), 10**9
        with working(BITS):
            weights = ball_softmax([exact(x) for x in point["s"]])
            equal(part(name, 2, 1), point | {"w": window}, sum(weights[len(weights) - window :], arb(0)))
            for far in range(1, point["n"]):
                equal(part(name, 0, 1, 1), point | {"k": far}, weights[-1 - far])
                close(part(name, 1, 1, 2), point | {"k": far, "a": 1}, dropped_flat.mass_bound(1, far, point["D"]))
        kept = window + 1
        floor = 1 - dropped_flat.mass_floor(many, kept, float(point["D"]))
        close(part(name, 2, 2), point | {"w": kept, "n": many}, floor, 1e-6)


def test_one_head_at_the_two_inputs_with_one_token():
    """kv.thm3.3.impossible: a and b scale scores and values of a causal head; IH of the two inputs."""
    tokens = symbolic.symbolic_tokens(3, 1)
    symbols = [sigma, slope, *PARAMETERS, *(entry for row in tokens for entry in row)]
    terms = symbolic.kv_shift_terms(tokens, "causal", PARAMETERS[:2], PARAMETERS[2:])
    head, truth = (numeric(list(symbolic.attend(t)), symbols, "arb") for t in (terms, symbolic.induction_terms(tokens)))
    for rng in draws("impossible", POINTS):
        values = [eighth(rng) for _ in range(9)]
        point = dict(zip(("sigma", "m", "a1", "a2", "b1", "b2", "u", "a", "b"), values, strict=True))
        for which, x in enumerate([(point["u"], 0, 0), (0, point["u"], 0)]):
            with working(BITS):
                (found,) = head(point["sigma"] / point["a"], *values[1:6], *x)
                equal(part("kv.thm3.3.impossible", which, 1), point, found * exact(point["b"]))
                equal(part("kv.thm3.3.impossible", which, 2), point, truth(*values[:6], *x)[0])


def test_a_decoded_key_of_the_listing_and_that_of_the_full_pass():
    for rng in draws("listing", POINTS):
        n = rng.randint(2, 6)
        place = rng.randint(2, n)
        x, (a1, a2) = [rng.randint(-9, 9) for _ in range(n)], [rng.randint(-4, 4) for _ in "ab"]
        raw, kernel = torch.tensor(x).reshape(1, n, 1, 1), torch.tensor([[a2, a1]])
        chunks = (place - 1, *[1] * (n - place + 1))
        decoded, full = ListingDecoder(kernel, Flaw.FINAL).run(raw, chunks), listing_convolution(raw, kernel)
        point = {"a1": a1, "a2": a2, "x": [*map(Fraction, x)], "n": n, "s": place}
        for side, true in ((1, decoded), (2, full)):
            assert ball(part("kv.appM.inference", side), point) == int(true[0, place - 1, 0, 0])


def test_the_levels_of_a_listing():
    for number, level in enumerate(np.arange(0, 10, 0.05)):
        for path in ((4, 2), (5, 2)):
            close(part("kv.listing_l.levels", *path), {"n": number}, level, 1e-9)


ONE, FAR = {"d": 1, "h": (1,), "g": (3,), "b": (-3,)}, 10**9
# claim: points that its domain must hold, the least sizes and the ends of its ranges among them
LEAST = {
    "kv.thm3.3": [
        {
            "L": 3,
            "d": 1,
            "sigma": t,
            "m": m,
            "c": 1,
            "x": ((-FAR,), (FAR,), (0,)),
            **dict.fromkeys(("a1", "a2", "b1", "b2"), 0),
        }
        for t, m in ((Fraction(1, FAR), 0), (FAR, FAR))
    ],
    "kv.thm3.3.impossible": [
        dict.fromkeys(("a1", "a2", "b1", "b2", "a", "b", "m"), x) | {"sigma": abs(x), "u": abs(x)}
        for x in (-FAR, Fraction(1, FAR))
    ],
    "kv.appM.inference": [{"a1": 1, "a2": 0, "n": 2, "x": (0, 1), "s": 2}],
    "razor.thm1": [
        {
            **ONE,
            "n": 2,
            "e": 1,
            "c": 0,
            "h": ((1,), (-1,)),
            "p": ((0,),),
            "r": ((0,),),
            "j": 1,
            "z": 1,
            "l": 1,
            "eps": Fraction(FAR - 1, FAR),
        }
    ],
    "razor.thm1.corrected": [
        {"n": 2, "k": 1, "l": t, "D": wide, "gap": gap, "a": -FAR, "s": (-FAR, wide - FAR), "eps": Fraction(1, FAR)}
        for t, wide, gap in ((Fraction(1, FAR), 0, 0), (FAR, 9, 9))
    ],
    "razor.appA.last_step": [{"n": 1, "s": (-FAR,), "l": Fraction(1, FAR), "j": 1}],
    "razor.sec3.1.discard": [
        {"n": 1, "l": Fraction(1, FAR), "D": 0, "numerator": 0, "a": FAR, "s": (FAR,), "eps": Fraction(FAR - 1, FAR)}
    ],
    "razor.eq7": [{**ONE, "c": 0}, {"d": 2, "c": 1, "h": (0, 1), "g": (0, 0), "b": (0, 0)}],
    "razor.eq8": [{**ONE, "e": 1, "c": 0, "p": ((0,),), "r": ((-FAR,),)}],
    "razor.sec3.2.no_decay": [{"n": 2, "k": 1, "w": 0, "D": 0, "a": -FAR, "s": (-FAR, -FAR), "eps": Fraction(1, FAR)}],
    "kv.listing_l.levels": [{"a": 0, "b": 1, "n": 199}, {"a": 1, "b": 0, "n": 0}],
}


@pytest.mark.parametrize("name", LEAST)
def test_the_domain_holds_the_least_and_the_extreme_cases(name):
    base = premise(FORMAL[name])
    base = replace(base, given=tuple(given for given in base.given if given.parts[0] != "="))  # it gives a number
    for point in LEAST[name]:
        assert witness.meets(base, as_fractions(point)), (name, point)
