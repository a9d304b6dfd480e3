"""The explorer's numbers and its flow against the library's."""

import json
import math

import numpy as np
import pytest
from numpy.testing import assert_allclose

from dynamics.flow.trajectories import gradient_flow
from tests.scripts.site.browser import ask, ask_all, opened
from theory import alibi, landscape
from theory.alibi.bounds import log_weight_bound
from theory.cache.compensation_alibi import mean_bias_log_gap
from theory.cache.dropped_flat import mass_bound
from theory.landscape import printed
from theory.landscape.exact import printed_loss

EXACT = 1e-12  # of a number; where `close` is given a size, of what it is a difference of
TIMES = 1e-6  # of the library's time: its own error is some 1e-8, the page's tolerance is 1e-9 a step
POSITIONS = ("mean", None, "first", "last", "end")


def place(position, tokens):
    """The position as theory takes it; None where there is none."""
    return {"first": 1, "last": tokens - 1, "end": tokens}.get(position, position)


def states(number=320):
    """(alpha1, alpha2, beta1, beta2, T, position, tau): seeded, every third on the slice, edges often."""
    rng = np.random.default_rng(5)
    found = []
    while len(found) < number:
        tokens = int(rng.choice([2, 3, 4, 5, 12, 104, 1000, 10**6]))
        position = POSITIONS[rng.integers(5)]
        if position is None and tokens < 4:
            continue
        values = np.where(rng.random(4) < 0.3, rng.choice([0.0, 1.0, -6.0, 6.0], 4), rng.uniform(-3, 3, 4))
        if len(found) % 3 == 0:
            values[1], values[3] = 1 - values[0], 1 - values[2]
        tau = float(rng.choice([1.0, 1.0, 0.1, 2.5, 10.0]))
        found.append([*values.tolist(), tokens, place(position, tokens), tau])
    return found


def scaled(state):
    """The four parameters at temperature 1."""
    a1, a2, b1, b2, *_, tau = state
    return a1, a2, b1 / tau, b2 / tau


def close(found, wanted, size=0.0):
    """Equal to `EXACT` of the number, or of what it is a difference of."""
    found, wanted = np.array(found, dtype=float), np.asarray(wanted)
    assert found.shape == wanted.shape
    bound = EXACT * np.maximum(np.abs(wanted), size)
    assert (np.abs(found - wanted) <= bound).all(), np.abs(found - wanted).max()


def test_losses_gradients_and_logits_are_those_of_theory(page):
    cases = states()
    found = ask_all(page, "[x.loss(...s), x.gradient(...s)]", cases)
    for state, (loss, gradient) in zip(cases, found, strict=True):
        *_, tokens, position, tau = state
        size = np.abs(scaled(state)[2:]).sum()  # a component is a sum of terms of this size over T
        close(loss, landscape.loss(*scaled(state), tokens, position))
        close(gradient, landscape.gradient(*scaled(state), tokens, position) / [1, 1, tau, tau], (1 + size) / tokens)
    short = [s for s in cases if s[4] <= 104 and s[5] != "mean"]
    for state, logits in zip(short, ask_all(page, "x.logits(...s)", short), strict=True):
        close(logits, landscape.logits(*scaled(state), state[4], state[5]), np.abs(scaled(state)[2:]).sum())


def test_the_printed_losses_are_those_of_theory(page):
    cases = [s for s in states(500) if s[4] >= 4]
    assert len(cases) > 200
    found = ask_all(page, "x.loss(s[0], s[1], s[2], s[3], s[4], null, s[6], 'equation')", cases)
    for state, loss in zip(cases, found, strict=True):
        rest = state[4] - 4
        close(loss, printed_loss(*scaled(state), rest, rest))
    on_slice = [[s[0], 1 - s[0], s[2], 1 - s[2], s[4]] for s in cases if s[4] <= 504]
    found = ask_all(page, "x.loss(...s, null, 1, 'listing')", on_slice)
    for (a1, _, b1, _, tokens), loss in zip(on_slice, found, strict=True):
        close(loss, printed.loss(a1, b1, tokens - 4))


@pytest.mark.parametrize("slips", [printed.EQUATION, printed.LISTING])
def test_printed_directions_are_those_of_theory(page, slips):
    name = "listing" if slips == printed.LISTING else "equation"
    for tokens in (4, 12, 104):
        grid = printed.printed_grid(tokens - 4, slips, 7, (-1.0, 2.0), (-1.0, 2.0))
        cases = [[a, 1 - a, b, 1 - b, tokens] for a in grid.alpha1 for b in grid.beta1]
        found = np.array(ask_all(page, f"x.gradient(...s, null, 1, '{name}')", cases)).reshape(7, 7, 4)
        assert_allclose(found[..., 0] - found[..., 1], grid.d_alpha1, rtol=0, atol=1e-12)
        assert_allclose(found[..., 2] - found[..., 3], grid.d_beta1, rtol=0, atol=1e-12)


def test_the_pictures_show_the_same_losses(page):
    opened(page, "#pane=loss&T=12&pos=mean&view=wide&walls=0&tau=2.5")
    picked = (
        "const m = x.map(MODEL), at = (i, j) => m.values[(400 - j) * 401 + i];"
        "return [m.low, m.high, [0, 77, 200, 400].map(j => [0, 133, 400].map(i => at(i, j)))];"
    )
    a, b = -3 + 6 * np.array([0, 133, 400]) / 400, -3 + 6 * np.array([[0], [77], [200], [400]]) / 400
    wanted = landscape.loss(a, 1 - a, b / 2.5, (1 - b) / 2.5, 12, "mean")
    low, high, values = ask(page, picked.replace("MODEL", "0"))
    assert_allclose(values, wanted, rtol=1e-12)
    assert low <= np.min(values) and np.max(values) <= high
    opened(page, "#pane=loss&T=12")
    a, b = np.array([0, 133, 400]) / 400, np.array([0, 77, 200, 400]) / 400
    wanted = [[printed.loss(x, y, 8) for x in a] for y in b]
    assert_allclose(ask(page, picked.replace("MODEL", "2"))[2], wanted, rtol=1e-12)


def test_learning_times_in_the_limit_are_those_of_theory(page):
    rng = np.random.default_rng(2)
    starts = [[0.5, 0.5], [0.0, 1.0], [0.3, 0.0], [5.0, 0.01], [-2.0, 3.0], [1.0, -0.5], [2.0, -1.2], [0.0, 0.001]]
    starts += rng.uniform([-1, 0.2], [4, 4], (40, 2)).tolist()
    compared = 0
    for (a2, b1), found in zip(starts, ask_all(page, "x.scaledLearningTime(...s)", starts), strict=True):
        room = abs(b1) - math.sqrt(2 * (a2 + math.exp(-a2) - 1))
        if a2 < 0 and room < 0.01:
            assert room > 0 or found is None
            continue
        # near the boundary of the two routes s* is that sensitive to the start
        size = 10 / min(1, abs(room)) if a2 * b1 < 0 else 0
        close(found, landscape.scaled_learning_time(a2, b1).value, size)
        compared += 1
    assert compared > 40
    assert ask_all(page, "x.scaledLearningTime(...s)", [[-1.0, 0.1], [0.0, 0.0], [0.5, -3.0]]) == [None, None, None]


def random_starts(number, mode, seed):
    rng = np.random.default_rng(seed)
    starts = rng.random((number, 4))
    if mode in ("slice", "box"):
        starts[:, 1::2] = 1 - starts[:, ::2]
    return starts


@pytest.mark.parametrize(("mode", "position"), [("free", "mean"), ("free", None), ("slice", None), ("slice", 1)])
def test_the_flow_learns_when_the_librarys_does(page, mode, position):
    starts = np.vstack([random_starts(5, mode, 1), [[0.5] * 4]])
    for tokens in (6, 40, 3000):
        end = 300.0 * tokens
        wanted = gradient_flow(
            starts, tokens, end, times=[end], mode=mode, position=position, levels=[0.1]
        ).level_times[0]
        options = {"position": position, "slice": mode == "slice"}
        found = ask_all(page, f"x.flow(s, {tokens}, {json.dumps(options)}).learned", starts.tolist())
        assert_allclose(np.array(found, dtype=float), wanted, rtol=TIMES)
        assert np.isfinite(wanted[-1])


@pytest.mark.parametrize("mode", ["box", "cube"])
def test_the_flow_in_the_box_rests_when_the_librarys_does(page, mode):
    starts = np.vstack([random_starts(6, mode, 3), [[1.0, 0.0, 0.0, 1.0]]])
    for tokens in (4, 12, 104):
        wanted = gradient_flow(starts, tokens, 300.0 * tokens, mode=mode)
        options = json.dumps({"slice": mode == "box", "walls": True})
        found = ask_all(
            page, f"(f => [f.rests, f.path[f.path.length - 1]])(x.flow(s, {tokens}, {options}))", starts.tolist()
        )
        assert_allclose(np.array([rest for rest, _ in found], dtype=float), wanted.rest_times, rtol=TIMES)
        assert_allclose([end for _, end in found], wanted.theta[-1], atol=1e-9)


def test_temperature_moves_the_flow_as_the_loss_says(page):
    """Betas in units of tau descend tau^-2 times as fast beside the alphas: scipy on the library's gradient."""
    from scipy.integrate import solve_ivp

    tau, tokens = 2.5, 30

    def velocity(_, p):
        return -landscape.gradient(p[0], p[1], p[2] / tau, p[3] / tau, tokens) / [1, 1, tau, tau]

    def learned(_, p):
        return float(landscape.loss(p[0], p[1], p[2] / tau, p[3] / tau, tokens)) - 0.1

    learned.terminal = True
    wanted = solve_ivp(velocity, (0, 1e4), [0.5] * 4, "DOP853", rtol=1e-9, atol=1e-11, events=learned).t_events[0][0]
    assert ask(page, f"return x.flow([.5, .5, .5, .5], {tokens}, {{tau: {tau}}}).learned;") == pytest.approx(
        wanted, rel=TIMES
    )
    long = ask(page, f"return x.flow([.5, .5, .5, .5], 1e6, {{tau: {tau}}}).learned;")
    limit = landscape.scaled_learning_time(0.5, 0.5).value * 1e6 * tau
    assert limit < long < 1.001 * limit


def test_shades_end_where_the_flow_does(page):
    """Starts of each kind; those close to the border of two basins belong to no kind."""
    for mode, tokens in (("box", 4), ("slice", 12), ("slice", 40), ("cube", 4), ("free", 12)):
        starts = 6 * random_starts(20, mode, 7) - 3 if mode in ("slice", "free") else random_starts(20, mode, 7)
        if mode == "slice":
            starts[:, 1::2] = 1 - starts[:, ::2]
        if mode == "cube":  # one that comes to rest where both betas are 0
            starts = np.vstack([starts, random_starts(3, mode, 3)[2:]])
        walls, on_slice = mode in ("box", "cube"), mode in ("slice", "box")
        end = 300.0 * tokens
        flow = gradient_flow(starts, tokens, end, times=[end], mode=mode, levels=[0.1])
        ends = flow.theta[-1]
        corner = (np.abs(ends - [0, 1, 1, 0])[:, :3] < 0.02).all(axis=1)
        wanted = corner if walls else np.isfinite(flow.level_times[0])
        script = f"x.endsWell(s, {tokens}, 0, null, 1, {json.dumps(on_slice)}, {json.dumps(walls)})"
        assert ask_all(page, script, starts.tolist()) == wanted.tolist(), (mode, tokens)


def alibi_cases():
    number, rng = 240, np.random.default_rng(9)
    slope = np.where(
        rng.random(number) < 0.2, rng.choice([0.0, 1e-15, 2.0**-16, 4.0], number), 2 ** rng.uniform(-12, 1, number)
    )
    span = np.where(rng.random(number) < 0.2, rng.choice([0.0, 400.0, 2000.0], number), rng.uniform(0, 60, number))
    eps = np.where(
        rng.random(number) < 0.2, rng.choice([1e-12, 0.5, 0.999], number), 10 ** rng.uniform(-9, -0.1, number)
    )
    window, tokens = rng.integers(0, 3000, number), rng.integers(1, 6000, number)
    return [list(map(float, row)) for row in zip(slope, span, eps, window, tokens, strict=True)]


def test_alibi_bounds_are_those_of_theory(page):
    cases = alibi_cases()
    script = (
        "[x.logWeightBound(s[3], s[0], s[1]), x.weightBound(s[3], s[0], s[1]), x.scope(s[0], s[1], s[2]), "
        "x.droppedMassBound(s[3], s[0], s[1]), x.droppedMassBound(s[3], s[0], s[1], s[4]), "
        "x.windowForMass(s[0], s[1], s[2])]"
    )
    for (slope, span, eps, window, tokens), found in zip(cases, ask_all(page, script, cases), strict=True):
        wanted = [
            log_weight_bound(window, slope, span), alibi.weight_bound(window, slope, span),
            alibi.scope(slope, span, eps), alibi.dropped_mass_bound(window, slope, span),
            alibi.dropped_mass_bound(window, slope, span, tokens), alibi.window_for_mass(slope, span, eps),
        ]  # fmt: skip
        for number, value in zip(found, wanted, strict=True):
            if math.isinf(value):
                assert number is None
            else:
                close(number, value)


def test_what_a_cache_loses_is_that_of_theory(page):
    cases = [s for s in alibi_cases() if s[4] > s[3] >= 1]
    assert len(cases) > 50
    script = "[x.flatMassBound(s[4] - s[3], s[3], s[1]), x.meanBiasLogGap(s[4] - s[3], s[0])]"
    for (slope, span, _, window, tokens), found in zip(cases, ask_all(page, script, cases), strict=True):
        close(found[0], mass_bound(tokens - window, window, span))
        close(found[1], mean_bias_log_gap(tokens - window, slope), 1e-2)
    for heads in (1, 8, 12, 16, 40, 112):
        close(ask(page, f"return x.headSlopes({heads});"), alibi.slopes(heads))
