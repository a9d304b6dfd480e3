"""Nodes of terms: of a kind, and exchanged for others wherever they stand free."""

from __future__ import annotations

from collections.abc import Mapping

from proofs_check.core.terms import Term, free


def is_exp(term: Term) -> bool:
    """Is it an exponential?"""
    return term.kind == "apply" and bool(term.parts[0] == "exp")


def exchanged(term: Term, node: Term, other: Term) -> Term:
    """The term with another node in each place where the node is free."""
    return all_exchanged(term, {node: other})


def all_exchanged(term: Term, by: Mapping[Term, Term]) -> Term:
    """The term with all of these nodes exchanged at once."""
    if term in by:
        return by[term]
    if term.kind in ("fold", "each"):
        index = term.parts[1 if term.kind == "fold" else 0]
        by = {node: other for node, other in by.items() if index not in free(node) | free(other)}
    if not by:
        return term
    return Term(term.kind, *(all_exchanged(p, by) if isinstance(p, Term) else p for p in term.parts))
