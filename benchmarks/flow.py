"""Gradient flow of 10,000 starts in four parameters to t = 200, T = 100, at equal accuracy over all of them.

Each way has the loosest tolerances found to leave its largest error over the starts below 1e-7, and the same kernel for
the gradient where it can use it; what is compared is the stepping. The loop takes a sample of the starts, scaled up.
"""

from collections.abc import Callable

import numpy as np
import sympy as sp
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
WAYS = {"ours": 3e-9, "stacked": 5e-9, "lsoda": 1e-9}


def measure(quick: bool) -> Row:
    number, sample = (300, 2) if quick else (10_000, 20)
    starts = np.random.default_rng(0).uniform(0, 1, (number, 4))
    found: dict[str, Array] = {}
    slope = compiled_sympy()
    flow = ours(starts)
    variants: dict[str, Callable[[], object]] = {
        "ours": lambda: found.update(ours=ours(starts).theta[-1]),
        "stacked": lambda: found.update(stacked=stacked(starts, WAYS["stacked"])),
        "loop": lambda: found.update(loop=loop(starts[:sample], slope, WAYS["lsoda"])),
        "limit": blocks(round(5 * STAGES * int(flow.steps.sum()) / BLOCK), np.exp),
    }
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
    scale = number / sample
    label = f"solve_ivp LSODA, a loop: {sample} starts times {scale:g}"
    return [
        compare(times, "stacked", "solve_ivp DOP853, all starts stacked", 2.3, 3),
        compare(times, "loop", label, 140, 197, scale=scale),
    ]


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
