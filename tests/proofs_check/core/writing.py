"""Sequents and proofs as the tests of the rules write them: with terms in the place of their JSON."""

from proofs_check.core.domain import Sequent
from proofs_check.core.terms import Term, to_json
from proofs_check.language.notation import statement


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
