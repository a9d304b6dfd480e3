"""The batched flow against scipy, its own limits and the landscape; descent against torch's optimisers."""

import numpy as np
import pytest
import torch
from scipy.integrate import solve_ivp

from dynamics.flow.block import Run, Settings
from dynamics.flow.descent import descend, log_steps
from dynamics.flow.dop853 import Stepper, error_root, next_factor
from dynamics.flow.trajectories import Status, gradient_flow, log_times
from dynamics.flow.velocity import InteriorField, make_field
from theory import landscape


def box_starts(number):
    return np.random.default_rng(0).uniform(0, 1, (number, 4))


def slice_starts(number):
    rows = box_starts(number)
    rows[:, 1::2] = 1 - rows[:, ::2]
    return rows


def on_slice(slopes):
    """The slopes (.., 2) in (alpha1, beta1) of the loss restricted to the slice, of those (.., 4) in all parameters."""
    return np.stack([slopes[..., 0] - slopes[..., 1], slopes[..., 2] - slopes[..., 3]], axis=-1)


def reference(start, tokens, times, velocity=None, position=None):
    """scipy's DOP853 at its tightest, one trajectory at a time."""

    def rhs(_, z):
        return velocity(z) if velocity else -landscape.gradient(*z, tokens, position)

    return solve_ivp(rhs, (0, times[-1]), start, method="DOP853", t_eval=times, rtol=1e-13, atol=1e-14).y.T


@pytest.mark.parametrize("tokens", [4.0, 100.0, np.linspace(4, 900, 500)])
def test_velocity_is_minus_the_gradient(tokens):
    states = np.random.default_rng(1).normal(0, 2, (4, 500))
    each = np.broadcast_to(tokens, 500).copy()
    field, out = make_field(each, None, False), np.empty((4, 500))
    field.velocity(states, out)
    np.testing.assert_allclose(out.T, -landscape.gradient(*states, each), atol=4e-15)
    np.testing.assert_allclose(field.last_loss(), landscape.loss(*states, each), rtol=4e-15)


@pytest.mark.parametrize("position", [None, 1, 11, "mean"])
def test_velocity_on_the_slice_is_the_slope_of_the_restricted_loss(position):
    rows = slice_starts(7)
    field, out = make_field(np.full(7, 12.0), position, True), np.empty((2, 7))
    field.velocity(np.ascontiguousarray(rows[:, ::2].T), out)
    np.testing.assert_allclose(out.T, -on_slice(landscape.gradient(*rows.T, 12, position)), atol=1e-15)


def test_step_has_order_eight():
    rate = np.array([[-1.0, -1.0]])
    stepper, errors = Stepper(1, 2), []
    for length in (0.8, 0.4):
        state = np.ones((1, 2))
        stepper.rates[2] = state * rate
        new, _ = stepper.step(lambda x, out: np.multiply(x, rate, out=out), state, np.full(2, length), 1e-8, 1e-10)
        errors.append(abs(new[0, 0] - np.exp(-length)))
    assert 2**8.5 < errors[0] / errors[1] < 2**9.5


def test_next_factor_shrinks_after_nan_and_is_bounded():
    root = error_root(np.array([np.nan, np.inf, 0.0, 1.0, 2.0**-8]))
    np.testing.assert_allclose(next_factor(root), [0.2, 0.2, 10, 0.9, 1.8])


def test_next_factor_foresees_a_growing_error_and_ignores_a_falling_one():
    root = error_root(np.full(4, 2.0**-8))
    np.testing.assert_allclose(next_factor(root, np.array([0.5, 2.0, np.inf, 0.01])), [0.9, 1.8, 1.8, 0.2])


def test_steps_are_those_that_were_tried(monkeypatch):
    tried, step = [], Stepper.step

    def counted(self, velocity, state, length, *tolerances):
        tried.append((length > 0).sum())
        return step(self, velocity, state, length, *tolerances)

    monkeypatch.setattr(Stepper, "step", counted)
    assert gradient_flow(box_starts(50), 100, 200.0).steps.sum() == sum(tried)


@pytest.mark.parametrize("position", [None, 2, "mean"])
def test_flow_agrees_with_scipy_at_all_times(position):
    starts, times = box_starts(3), np.array([0.0, 0.3, 5.0, 20.0, 60.0])
    found = gradient_flow(starts, 30, 60.0, times=times, position=position)
    for row, path in zip(starts, np.moveaxis(found.theta, 1, 0), strict=True):
        np.testing.assert_allclose(path, reference(row, 30, times, position=position), atol=2e-7)
    assert found.status == (Status.REACHED,) * 3
    np.testing.assert_array_equal(found.theta[0], starts)


def test_flow_of_many_starts_has_error_below_1e7_and_no_rise():
    starts = box_starts(2000)
    found = gradient_flow(starts, 100, 200.0, times=[200.0])
    tight = gradient_flow(starts, 100, 200.0, times=[200.0], rtol=1e-12, atol=1e-14)
    assert np.abs(found.theta - tight.theta).max() <= 1e-7
    assert found.violations == 0 and found.steps.max() < 100
    for row, end in zip(starts[::600], tight.theta[-1, ::600], strict=True):
        np.testing.assert_allclose(end, reference(row, 100, [200.0])[-1], atol=2e-10)


def test_flow_of_each_start_does_not_depend_on_the_others():
    starts, tokens = box_starts(40), np.linspace(5, 300, 40)
    together = gradient_flow(starts, tokens, 300.0, levels=[1.0])
    for k in (0, 17, 39):
        alone = gradient_flow(starts[k : k + 1], tokens[k], 300.0, levels=[1.0])
        np.testing.assert_allclose(alone.theta[:, 0], together.theta[:, k], atol=1e-9)
        np.testing.assert_allclose(alone.level_times[:, 0], together.level_times[:, k], atol=1e-6)


def test_flow_on_the_slice_stays_there_and_agrees_with_scipy():
    starts, times = slice_starts(5), np.array([1.0, 30.0, 90.0])
    found = gradient_flow(starts, 40, 90.0, times=times, mode="slice")
    np.testing.assert_allclose(found.theta[..., ::2] + found.theta[..., 1::2], 1.0, atol=1e-15)

    def velocity(z):
        return -on_slice(landscape.gradient(z[0], 1 - z[0], z[1], 1 - z[1], 40))

    for row, path in zip(starts, np.moveaxis(found.theta, 1, 0), strict=True):
        np.testing.assert_allclose(path[:, ::2], reference(row[::2], 40, times, velocity), atol=1e-7)


def test_level_times_are_where_the_loss_crosses():
    starts = box_starts(50)
    found = gradient_flow(starts, 20, 2000.0, levels=[1.0, 0.1, 9.0])
    assert (found.level_times[2] == 0).all()
    learnt = ~np.isnan(found.level_times[1])
    assert learnt.mean() > 0.9
    assert (found.level_times[0] < found.level_times[1])[learnt].all()
    for k in np.flatnonzero(learnt)[:5]:
        at = gradient_flow(starts[k : k + 1], 20, found.level_times[1, k]).theta[-1, 0]
        assert float(landscape.loss(*at, 20)) == pytest.approx(0.1, abs=1e-6)


@pytest.mark.parametrize("tokens", [4, 100])
def test_projected_flow_comes_to_rest_at_the_induction_head(tokens):
    starts = slice_starts(300)
    found = gradient_flow(starts, tokens, 1e5, mode="box")
    assert set(found.status) == {Status.RESTS} and found.violations == 0
    np.testing.assert_array_equal(found.theta[-1, :, ::2], np.broadcast_to([0.0, 1.0], (300, 2)))
    assert (found.rest_times > 0).all()
    assert ((found.theta >= 0) & (found.theta <= 1)).all()


def euler(start, tokens, t_end, pieces):
    """The projected flow by small steps of Euler, the definition."""
    z = np.array(start)
    for _ in range(pieces):
        slopes = landscape.gradient(z[0], 1 - z[0], z[1], 1 - z[1], tokens)
        z = np.clip(z - t_end / pieces * on_slice(slopes), 0, 1)
    return z


@pytest.mark.parametrize("start", [(0.95, 0.02), (0.05, 0.3), (0.7, 0.0)])
def test_projected_flow_agrees_with_small_euler_steps_along_walls(start):
    row = [[start[0], 1 - start[0], start[1], 1 - start[1]]]
    for t_end in (3.0, 9.0):
        found = gradient_flow(row, 4, t_end, mode="box").theta[-1, 0, ::2]
        coarse, fine = (euler(start, 4, t_end, pieces) for pieces in (1000, 2000))
        np.testing.assert_allclose(found, 2 * fine - coarse, atol=2e-4)


def test_flow_in_the_cube_stays_there():
    found = gradient_flow(box_starts(200), 10, 1e4, mode="cube")
    assert ((found.theta >= 0) & (found.theta <= 1)).all() and found.violations == 0


def test_flow_to_1e7_loses_nothing():
    found = gradient_flow(box_starts(100), 8)
    assert found.times[-1] == 1e7 and found.theta.shape == (found.times.size, 100, 4)
    assert found.violations == 0 and set(found.status) == {Status.REACHED}
    assert landscape.loss(*found.theta[-1].T, 8).max() < 1e-5


def test_lyapunov_check_sees_a_flow_uphill():
    class Uphill(InteriorField):
        def velocity(self, state, out):
            super().velocity(state, out)
            np.negative(out, out=out)

    settings = Settings(5.0, np.empty(0), 1e-8, 1e-10, np.empty(0), None, 1000)
    run = Run(Uphill(np.full(3, 9.0)), box_starts(3).T.copy(), settings)
    run.go()
    assert (run.rises > 0).all()


def test_flow_says_when_it_runs_out_of_steps():
    found = gradient_flow(box_starts(3), 100, 1e4, max_steps=5)
    assert set(found.status) == {Status.STUCK} and np.isnan(found.theta[-1]).all()


def test_log_times_run_from_zero_to_the_end():
    times = log_times(1e7)
    assert times[0] == 0 and times[-1] == 1e7 and (np.diff(times) > 0).all()
    np.testing.assert_allclose(np.diff(np.log10(times[1:])), 1 / 8, atol=1e-3)


def test_descend_takes_the_steps_of_torch():
    starts = box_starts(3)
    found = descend(starts, 9, 60, 0.05)
    theta = torch.tensor(starts, requires_grad=True)
    optimiser = torch.optim.SGD([theta], lr=0.05)
    for step in range(1, 61):
        theta.grad = torch.tensor(landscape.gradient(*theta.detach().numpy().T, 9))
        optimiser.step()
        if step in found.steps:
            row = int(np.searchsorted(found.steps, step))
            np.testing.assert_allclose(found.theta[row], theta.detach().numpy(), atol=1e-12)
    np.testing.assert_allclose(found.loss, landscape.loss(*np.moveaxis(found.theta, -1, 0), 9))


def test_descend_marks_a_run_that_diverges():
    found = descend([[0.0, 1.0, 0.5, 0.5]], 9, 50, 1e300)
    assert np.isfinite(found.loss[0]).all() and np.isnan(found.loss[-1]).all()


def test_log_steps_are_whole_and_end_at_the_last():
    assert log_steps(1).tolist() == [0, 1]
    assert log_steps(1000)[-1] == 1000 and (np.diff(log_steps(1000)) > 0).all()
