"""Sequents, proofs and statements as the tests write them: with terms in the place of their JSON."""

from proofs_check.core.domain import Sequent, Variable
from proofs_check.core.statement import Form
from proofs_check.core.terms import Term, to_json, walk
from proofs_check.language import statement


def q(goal, *variables, given=()):
    return Sequent(variables, tuple(given), goal)


def written(proof):
    """A proof, or a part of one, with every term in it as JSON."""
    if isinstance(proof, Term):
        return to_json(proof)
    if isinstance(proof, list | tuple):
        return [written(part) for part in proof]
    if isinstance(proof, dict):
        return {name: written(part) for name, part in proof.items()}
    return proof


def claim(says, *variables, **more):
    """A statement whose name does not matter."""
    return statement("a", for_all=variables, says=says, **more)


def stated(name, for_all, says, *given, known=()):
    """An entry of a list: over one variable or several, with those of the known definitions that it calls."""
    for_all = [for_all] if isinstance(for_all, Variable) else for_all
    terms = [*says.terms, *(term for _, term in says.at)] if isinstance(says, Form) else [says]
    called = set().union(*map(_calls, terms)) if known else ()
    for other, definition in reversed(known):
        called = called | _calls(definition.body) if other in called else called
    using = [entry for entry in known if entry[0] in called]
    return statement(name, for_all=for_all, given=given, says=says, using=using)


def _calls(term):
    return {node.parts[0] for node in walk(term) if node.kind == "call"}


def certificate(told, **parts):
    return {"format": 1, "statement": told.digest, **parts}
