"""The derivative of a term by a number, for terms that are smooth where they are defined."""

from __future__ import annotations

from proofs_check.core.terms import ONE, ZERO, Malformed, Term, cos, exp, free, joined, num, sin, sqrt, tanh


def derivative(term: Term, name: str) -> Term:
    """d term / d name, defined where the term is, but for a root at 0. Raises Malformed where there may be a kink."""
    if name not in free(term):
        return ZERO
    kind, parts = term.kind, term.parts
    if kind == "var":
        return ONE
    if kind == "add":
        return _sum([derivative(part, name) for part in parts])
    if kind == "mul":
        return _sum([_product([*parts[:k], derivative(parts[k], name), *parts[k + 1 :]]) for k in range(len(parts))])
    if kind == "div":
        top, under = parts
        return _sum([derivative(top, name) / under, _product([num(-1), top, derivative(under, name)]) / under**2])
    if kind == "pow":
        base, n = parts
        return _product([num(n), base ** (n - 1) if n != 1 else ONE, derivative(base, name)])
    if kind == "apply" and parts[0] != "abs":
        return _product([_outer(parts[0], parts[1]), derivative(parts[1], name)])
    if kind == "fold" and parts[0] == "sum":
        _, index, low, high, body = parts
        if name not in free(low) | free(high):
            return Term("fold", "sum", index, low, high, derivative(body, name))
    raise Malformed(f"a {kind} in {name} may have a kink")


def _outer(name: str, x: Term) -> Term:
    return {
        "exp": lambda: exp(x), "log": lambda: 1 / x, "sqrt": lambda: 1 / (2 * sqrt(x)), "sin": lambda: cos(x),
        "cos": lambda: -sin(x), "tanh": lambda: 1 - tanh(x) ** 2, "atan": lambda: 1 / (1 + x**2),
    }[name]()  # fmt: skip


def _sum(terms: list[Term]) -> Term:
    """Without the zeros, which would only make the enclosures longer."""
    return joined("add", [term for term in terms if term is not ZERO], ZERO)


def _product(terms: list[Term]) -> Term:
    return ZERO if ZERO in terms else joined("mul", [term for term in terms if term is not ONE], ONE)
