"""Gradient flow of 10,000 starts in four parameters to t = 200, T = 100, at equal accuracy over all of them.

Each way has the loosest tolerances found to leave its largest error over the starts below 1e-7, and the same kernel for
the gradient where it can use it; what is compared is the stepping. The loop takes a sample of the starts, scaled up.
"""

import importlib.util
import sys
from collections.abc import Callable

import numpy as np
import sympy as sp
import torch
from numpy.typing import NDArray
from scipy.integrate import solve_ivp

from benchmarks.landscape import BLOCK, blocks
from benchmarks.row import Comparison, Guard, Limit, Row, compare
from benchmarks.timing import Times, interleave
from dynamics.flow.trajectories import Trajectory, gradient_flow
from dynamics.flow.velocity import InteriorField
from theory.landscape.symbolic import interior_table, loss
from theory.symbols import PARAMETERS

Array = NDArray[np.float64]

T, T_END = 100, 200.0
ERROR = 1e-7
STAGES = 12  # evaluations of the gradient a step
# Relative tolerances; the absolute ones are a hundredth of these.
WAYS = {"ours": 3e-9, "stacked": 5e-9, "dopri5": 3e-10, "lsoda": 1e-9}


def measure(quick: bool) -> Row:
    number, sample = (300, 2) if quick else (10_000, 20)
    starts = np.random.default_rng(0).uniform(0, 1, (number, 4))
    found: dict[str, Array] = {}
    has_torchdiffeq = importlib.util.find_spec("torchdiffeq") is not None
    if not has_torchdiffeq:
        print("flow: torchdiffeq is not installed (extra `bench`), so it is left out", file=sys.stderr)
    slope = compiled_sympy()
    flow = ours(starts)
    variants: dict[str, Callable[[], object]] = {
        "ours": lambda: found.update(ours=ours(starts).theta[-1]),
        "stacked": lambda: found.update(stacked=stacked(starts, WAYS["stacked"])),
        "loop": lambda: found.update(loop=loop(starts[:sample], slope, WAYS["lsoda"])),
        "limit": blocks(round(5 * STAGES * int(flow.steps.sum()) / BLOCK), np.exp),
    }
    if has_torchdiffeq:
        variants["torchdiffeq"] = lambda: found.update(torchdiffeq=by_torchdiffeq(starts, WAYS["dopri5"]))
    times = interleave(variants, 1 if quick else 5)
    exact = stacked(starts, 1e-13)
    return Row(
        "flow",
        comparisons(times, number, sample),
        [Limit(f"5 exp an evaluation, {STAGES} evaluations a step", times.ratio("ours", "limit"), 10)],
        [
            Guard("Lyapunov violations", flow.violations, 0),
            *(error(name, ends, exact) for name, ends in sorted(found.items())),
        ],
    )


def error(name: str, ends: Array, exact: Array) -> Guard:
    largest = float(np.abs(ends - exact[: len(ends)]).max())
    return Guard(f"largest error over {len(ends)} starts, {name}", largest, ERROR)


def comparisons(times: Times, number: int, sample: int) -> list[Comparison]:
    rows = [compare(times, "stacked", "solve_ivp DOP853, all starts stacked", 2.3, 3)]
    if "torchdiffeq" in times.rounds:
        rows.append(compare(times, "torchdiffeq", "torchdiffeq dopri5, all starts stacked", 10, 13))
    scale = number / sample
    label = f"solve_ivp LSODA, a loop: {sample} starts times {scale:g}"
    return [*rows, compare(times, "loop", label, 140, 197, scale=scale)]


def ours(starts: Array) -> Trajectory:
    return gradient_flow(starts, T, T_END, times=[T_END], rtol=WAYS["ours"], atol=WAYS["ours"] / 100)


def stacked(starts: Array, rtol: float) -> Array:
    """One system of 4 n unknowns for scipy's DOP853: one step for all, chosen by the mean square of their errors."""
    field, shape = InteriorField(np.full(len(starts), float(T))), (4, len(starts))
    out = np.empty(shape)

    def velocity(_: float, flat: Array) -> Array:
        field.velocity(flat.reshape(shape), out)
        return out.ravel().copy()

    span, flat = (0.0, T_END), starts.T.ravel()
    found = solve_ivp(velocity, span, flat, method="DOP853", t_eval=[T_END], rtol=rtol, atol=rtol / 100)
    return found.y[:, -1].reshape(shape).T


def compiled_sympy() -> Callable[..., list[float]]:
    """-grad L of one state, with common subexpressions shared."""
    expr = loss(interior_table(sp.Integer(T)))
    return sp.lambdify(PARAMETERS, [-sp.diff(expr, p) for p in PARAMETERS], "math", cse=True)


def loop(starts: Array, slope: Callable[..., list[float]], rtol: float) -> Array:
    """scipy's LSODA for one start after the other."""
    ends = [
        solve_ivp(lambda _, z: slope(*z), (0.0, T_END), start, method="LSODA", rtol=rtol, atol=rtol / 100).y[:, -1]
        for start in starts
    ]
    return np.array(ends)


def by_torchdiffeq(starts: Array, rtol: float) -> Array:
    """torchdiffeq, which also takes one step for all; at equal accuracy its dopri8 is slower than dopri5."""
    from torchdiffeq import odeint

    times = torch.tensor([0.0, T_END], dtype=torch.float64)
    with torch.no_grad():
        path = odeint(torch_velocity, torch.tensor(starts.T.copy()), times, method="dopri5", rtol=rtol, atol=rtol / 100)
    return path[-1].numpy().T


def torch_velocity(_: torch.Tensor, state: torch.Tensor) -> torch.Tensor:
    """-grad L as `dynamics.flow.velocity` writes it."""
    b1, b2 = state[2], state[3]
    a, b = state[:2].exp()
    scale = 1 / (2 * a + b + (T - 2))
    other = -b1 * (b - 1)
    w_i = (scale * (b1 * (2 * a - 1) + b2 * (b - 1) + other)).exp()
    w_e = 2 * (scale * (b2 * (a - 1) + other)).exp()
    w_o = (T - 4) * (scale * other).exp()
    rest = w_i + w_e + w_o
    share = scale / (1 + rest)
    p_i, p_e, q = w_i * share, w_e * share, rest * share
    g3 = p_i * (2 * a - 1) - q * (b - 1)
    g4 = p_i * (b - 1) + p_e * (a - 1)
    mean = (b1 * g3 + b2 * g4) * scale
    g1 = a * (2 * (p_i * b1 - mean) + p_e * b2)
    g2 = b * (p_i * b2 - q * b1 - mean)
    return -torch.stack([g1, g2, g3, g4])
