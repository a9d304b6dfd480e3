"""The one lowering of a sympy expression to numbers: `numeric(expr, args, backend)`.

The expression is the truth; numpy, torch, mpmath and Arb only evaluate it. Constants without symbols are computed once
to 30 digits and rounded to a double (numpy, torch), or evaluated at the caller's precision (mpmath, Arb). Arb's is kept
from other threads by `theory.lowering.precision`; mpmath's `mp.prec` is one number of the whole process and is not.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
import sympy
from flint import arb
from sympy.printing.pycode import PythonCodePrinter

from theory.checked import ANYTHING, real, reals
from theory.lowering.ball import BallFunction, to_ball

BACKENDS = ("numpy", "torch", "mpmath", "arb")
_FUNCTIONS = ("exp", "log", "sqrt", "tanh", "sinh", "cosh", "sin", "cos", "tan", "atan", "sign")


def numeric(
    expr: sympy.Basic | Sequence[sympy.Expr] | sympy.MatrixBase, args: Sequence[sympy.Symbol], backend: str = "numpy"
) -> Callable[..., Any]:
    """A function of `args`, in that order, with the values of `expr`.

    Args: expr, one expression, a sequence of them, or a matrix (mutable ones are copied); backend, one of BACKENDS.
    Returns: a function. numpy and torch broadcast the arguments and return that shape, followed by (n,) for a sequence
    and (rows, columns) for a matrix; integers become doubles. mpmath works at the precision current at the call and
    returns an mpf, a list or an `mpmath.matrix`; arb likewise (balls, ints, Fractions and strings in, a ball or nested
    lists out).
    Raises: ValueError for an unknown backend, a symbol without an argument, two symbols of one name (they are different
    symbols to sympy, and silently so), a Sum without explicit limits, and floats handed to arb.
    """
    if backend not in BACKENDS:
        raise ValueError(f"unknown backend {backend!r}: choose one of {', '.join(BACKENDS)}")
    entries, shape = _entries(expr)
    symbols = tuple(args)
    _check_symbols(entries, symbols)
    return _lowered(entries, shape, symbols, backend)


def _entries(expr: Any) -> tuple[tuple[sympy.Expr, ...], tuple[int, ...]]:
    if isinstance(expr, sympy.MatrixBase):
        return tuple(_explicit(entry) for entry in expr), tuple(int(n) for n in expr.shape)
    if isinstance(expr, (list, tuple, sympy.Tuple)):
        return tuple(_explicit(entry) for entry in expr), (len(expr),)
    return (_explicit(expr),), ()


def _explicit(expr: Any) -> sympy.Expr:
    """The expression with each finite Sum written out, as neither torch nor Arb knows Sum."""
    terms = sympy.sympify(expr, strict=True)
    for total in terms.atoms(sympy.Sum):
        if not all(low.is_Integer and high.is_Integer for _, low, high in total.limits):
            raise ValueError(f"{total} has limits that are not integers: substitute them first")
    return terms.replace(sympy.Sum, lambda *parts: sympy.Sum(*parts).doit())


def _check_symbols(entries: Sequence[sympy.Expr], args: Sequence[sympy.Symbol]) -> None:
    if not all(isinstance(arg, sympy.Symbol) for arg in args) or len(set(args)) < len(args):
        raise ValueError(f"arguments must be distinct symbols, got {args}")
    used = set().union(*(entry.free_symbols for entry in entries)) if entries else set()
    for missing in sorted(used - set(args), key=str):
        twins = [arg for arg in args if arg.name == missing.name]
        if twins:
            raise ValueError(f"two symbols named {missing.name!r} have different assumptions: import, do not recreate")
        raise ValueError(f"symbol {missing.name!r} of the expression is not among the arguments {args}")
    if len({symbol.name for symbol in args}) < len(args):
        raise ValueError(f"two arguments share a name but not their assumptions: {args}")


@functools.lru_cache(maxsize=512)
def _lowered(
    entries: tuple[sympy.Expr, ...], shape: tuple[int, ...], args: tuple[sympy.Symbol, ...], backend: str
) -> Callable[..., Any]:
    if backend != "arb":
        # lambdify names its common subexpressions x0, x1, ... and would overwrite an argument x0 that has assumptions.
        fresh = {arg: sympy.Dummy(arg.name, **arg.assumptions0) for arg in args}
        entries, args = tuple(entry.xreplace(fresh) for entry in entries), tuple(fresh.values())
    return {"numpy": _numpy, "torch": _torch, "mpmath": _mpmath, "arb": _arb}[backend](entries, shape, args)


class _Printer(PythonCodePrinter):  # type: ignore[misc]
    """Plain operators and bare function names, for arrays of any library; a constant is a double."""

    def _print(self, expr: Any, **kwargs: Any) -> str:
        if isinstance(expr, sympy.Expr) and not expr.free_symbols and not expr.is_Integer:
            return f"({float(expr.evalf(30))!r})"
        return str(super()._print(expr, **kwargs))

    def _print_Pow(self, expr: sympy.Pow, **_: Any) -> str:
        base, exponent = f"({self._print(expr.base)})", expr.exp
        if exponent == sympy.S.Half:
            return f"sqrt({base})"
        if exponent == -sympy.S.Half:
            return f"(1 / sqrt({base}))"
        if exponent.is_Integer and exponent < 0:
            return f"(1 / {base}**{-exponent})"
        return f"({base}**({self._print(exponent)}))"

    def _print_call(self, expr: sympy.Basic) -> str:
        return f"{type(expr).__name__}({', '.join(self._print(arg) for arg in expr.args)})"

    def _print_Abs(self, expr: sympy.Abs) -> str:
        return f"abs({self._print(expr.args[0])})"

    def _nested(self, name: str, expr: sympy.Basic) -> str:
        # sympy's own numpy printer needs all arguments of one shape.
        code = self._print(expr.args[0])
        for arg in expr.args[1:]:
            code = f"{name}({code}, {self._print(arg)})"
        return code

    def _print_Max(self, expr: sympy.Max) -> str:
        return self._nested("maximum", expr)

    def _print_Min(self, expr: sympy.Min) -> str:
        return self._nested("minimum", expr)

    def _print_Piecewise(self, expr: sympy.Piecewise) -> str:
        code = "nan"
        for value, condition in reversed(expr.args):
            chosen = self._print(value)
            code = chosen if condition == sympy.true else f"where({self._print(condition)}, {chosen}, {code})"
        return code

    def _logical(self, symbol: str, expr: sympy.Basic) -> str:
        return f" {symbol} ".join(f"({self._print(arg)})" for arg in expr.args)

    def _print_And(self, expr: sympy.And) -> str:
        return self._logical("&", expr)

    def _print_Or(self, expr: sympy.Or) -> str:
        return self._logical("|", expr)

    def _print_Not(self, expr: sympy.Not) -> str:
        return f"(~({self._print(expr.args[0])}))"


for _name in _FUNCTIONS:
    setattr(_Printer, f"_print_{_name}", _Printer._print_call)


def _compiled(entries: tuple[sympy.Expr, ...], args: tuple[sympy.Symbol, ...], names: dict[str, Any]) -> Any:
    printer = _Printer({"fully_qualified_modules": False, "inline": True, "allow_unknown_functions": False})
    return sympy.lambdify(args, list(entries), modules=[names], printer=printer, cse=True)


def _numpy(
    entries: tuple[sympy.Expr, ...], shape: tuple[int, ...], args: tuple[sympy.Symbol, ...]
) -> Callable[..., Any]:
    names = {name: getattr(np, name) for name in (*_FUNCTIONS[:-2], "where", "maximum", "minimum", "nan")}
    function = _compiled(entries, args, {**names, "atan": np.arctan, "sign": np.sign})
    # Each branch of a Piecewise is evaluated everywhere, also where it is not chosen and not defined.
    quiet = {"all": "ignore"} if any(entry.has(sympy.Piecewise) for entry in entries) else {}

    def call(*values: Any) -> Any:
        arrays = [_array(arg.name, value) for arg, value in zip(args, values, strict=True)]
        with np.errstate(**quiet):  # type: ignore[arg-type]
            results = function(*arrays)
        common = np.broadcast_shapes(*(array.shape for array in arrays))
        kind = np.result_type(np.float64 if not arrays else arrays[0], *arrays)
        full = [np.broadcast_to(np.asarray(result, dtype=kind), common) for result in results]
        if not shape:
            return full[0].copy() if common else full[0][()]
        return np.stack(full, axis=-1).reshape(*common, *shape)

    return call


def _array(name: str, value: Any) -> Any:
    """Arrays of float32 and float64 as they are; other real numbers as float64. Raises ValueError."""
    plain = isinstance(value, np.ndarray) and not isinstance(value, np.ma.MaskedArray) and value.ndim > 0
    return value if plain and value.dtype in (np.float32, np.float64) else reals(name, value, ANYTHING)


def _torch(
    entries: tuple[sympy.Expr, ...], shape: tuple[int, ...], args: tuple[sympy.Symbol, ...]
) -> Callable[..., Any]:
    # The only mention of torch in theory: a caller who asks for it pays for the import.
    import torch

    def pairwise(function: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
        def call(a: Any, b: Any) -> Any:
            like = a if torch.is_tensor(a) else b
            return function(*(torch.as_tensor(x, dtype=like.dtype, device=like.device) for x in (a, b)))

        return call

    names = {name: getattr(torch, name) for name in (*_FUNCTIONS, "where", "nan")}
    names |= {name: pairwise(getattr(torch, name)) for name in ("maximum", "minimum")}
    function = _compiled(entries, args, names)

    def call(*values: Any) -> Any:
        given = [value for value in values if torch.is_tensor(value)]
        for arg, value in zip(args, values, strict=True):
            if torch.is_tensor(value) and (value.dtype == torch.bool or value.is_complex()):
                raise ValueError(f"{arg.name} must be a tensor of real numbers, got one of {value.dtype}")
        named = zip(args, values, strict=True)
        values = tuple(v if torch.is_tensor(v) else reals(arg.name, v, ANYTHING) for arg, v in named)
        device = given[0].device if given else None
        kind = torch.float64
        if given and all(value.is_floating_point() for value in given):
            kind = functools.reduce(torch.promote_types, [value.dtype for value in given])
        tensors = [torch.as_tensor(value, dtype=kind, device=device) for value in values]
        results = function(*tensors)
        common = np.broadcast_shapes(*(tuple(tensor.shape) for tensor in tensors))
        full = [torch.as_tensor(result, dtype=kind, device=device).expand(common) for result in results]
        return full[0] if not shape else torch.stack(full, dim=-1).reshape(*common, *shape)

    return call


def _mpmath(
    entries: tuple[sympy.Expr, ...], shape: tuple[int, ...], args: tuple[sympy.Symbol, ...]
) -> Callable[..., Any]:
    function = sympy.lambdify(args, list(entries), modules="mpmath", cse=True)

    def call(*values: Any) -> Any:
        exact = [_digits(arg.name, value) for arg, value in zip(args, values, strict=True)]
        results = [mpmath.mpmathify(result) for result in function(*exact)]
        if len(shape) == 2:
            return mpmath.matrix(_rows(results, shape))
        return results if shape else results[0]

    return call


def _digits(name: str, value: Any) -> Any:
    """A real number as an mpf. Raises ValueError for anything else."""
    if isinstance(value, Fraction):
        return mpmath.mpf(value.numerator) / value.denominator
    if not isinstance(value, mpmath.mpf | int):
        real(name, value, ANYTHING)
    return mpmath.mpmathify(value) if not isinstance(value, bool) else real(name, value)


def _arb(entries: tuple[sympy.Expr, ...], shape: tuple[int, ...], args: tuple[sympy.Symbol, ...]) -> Callable[..., Any]:
    function = BallFunction(entries, [arg.name for arg in args])

    def call(*values: Any) -> Any:
        results = list(function(*(value if isinstance(value, arb) else to_ball(value) for value in values)))
        return _rows(results, shape) if len(shape) == 2 else results if shape else results[0]

    return call


def _rows(values: list[Any], shape: tuple[int, ...]) -> list[list[Any]]:
    return [values[row * shape[1] : (row + 1) * shape[1]] for row in range(shape[0])]
