"""Loss and slice gradient on a 1000 x 1000 grid: `slice_grid` against autograd and against compiled sympy."""

import numpy as np
import sympy as sp
import torch

from benchmarks.row import Guard, Limit, Row, compare
from benchmarks.timing import interleave
from theory import symbols
from theory.landscape import symbolic
from theory.landscape.grid import SliceGrid, slice_grid
from theory.landscape.printed import LISTING, printed_grid

_TOKENS = 30
BLOCK = 4096


def measure(quick: bool) -> Row:
    size = 200 if quick else 1000
    compiled = compiled_sympy()
    variants = {
        "ours": lambda: slice_grid(_TOKENS, size),
        "listing": lambda: listing(size, _TOKENS - 4.0),
        "sympy": lambda: compiled(*_mesh(size), float(_TOKENS)),
        "limit": blocks(-(-size * size // BLOCK), np.exp, np.exp, np.exp, np.log),
    }
    times = interleave(variants, 3 if quick else 9)
    return Row(
        "landscape",
        [
            compare(times, "listing", "Appendix L: torch autograd", 7, 9),
            compare(times, "sympy", "sympy lambdify with cse", 3),
        ],
        [Limit("3 exp + 1 log a point", times.ratio("ours", "limit"), 3)],
        [
            Guard("largest difference from sympy", gap(slice_grid(_TOKENS, size), variants["sympy"]()), 1e-14),
            # O(T) = 4: with e^{O(T)} = e^26 in its sum the listing's gradient would vanish in any comparison
            Guard("listing: gap to its closed form", gap(printed_grid(4.0, LISTING, 50), listing(50, 4.0)), 1e-13),
        ],
    )


def _mesh(size: int) -> list[np.ndarray]:
    axis = np.linspace(0, 1, size)
    return np.meshgrid(axis, axis, indexing="ij")


def listing(size: int, rest: float) -> list[np.ndarray]:
    """Appendix L's way to loss, dL/dalpha1 and dL/dbeta1, made to run: its constant is a tensor, as its exp needs."""
    a1, b1 = (torch.tensor(axis, requires_grad=True) for axis in _mesh(size))
    a2, b2, constant = 1 - a1, 1 - b1, torch.tensor(rest, dtype=torch.float64)
    own = torch.exp(a1) / (2 * torch.exp(a1) + torch.exp(a2) + constant)
    previous = torch.exp(a2) / (2 * torch.exp(a1) + torch.exp(a2) + constant)
    partition = 2 * torch.exp(a1) + torch.exp(a2) + constant
    target = torch.exp(previous * b1 + b2 / partition)
    edge, repeated = torch.exp(b1 / partition + b2 * previous), torch.exp(2 * own * b1 + previous + b2)
    loss = -torch.log(target / (target + 2 * edge + repeated + torch.exp(constant)))
    loss.sum().backward()
    return [loss.detach().numpy(), a1.grad.numpy(), b1.grad.numpy()]


def compiled_sympy():
    """(alpha1, beta1, T) -> exact loss, dL/dalpha1, dL/dbeta1 on the slice, common subexpressions shared."""
    slices = {symbols.alpha2: 1 - symbols.alpha1, symbols.beta2: 1 - symbols.beta1}
    loss = symbolic.loss(symbolic.interior_table()).subs(slices)
    wanted = [loss, sp.diff(loss, symbols.alpha1), sp.diff(loss, symbols.beta1)]
    return sp.lambdify((symbols.alpha1, symbols.beta1, symbols.n_tokens), wanted, "numpy", cse=True)


def blocks(number: int, *functions: np.ufunc):
    """What the functions alone take of so many blocks of BLOCK points, which stay in the cache."""
    values, results = np.linspace(1.0, 2.0, BLOCK), np.empty(BLOCK)

    def run() -> None:
        for _ in range(number):
            for function in functions:
                function(values, out=results)

    return run


def gap(grid: SliceGrid, other) -> float:
    return max(float(np.abs(a - b).max()) for a, b in zip(grid[2:], other, strict=True))
