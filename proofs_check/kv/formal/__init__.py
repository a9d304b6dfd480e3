"""Pilot claims of the KV-shifting paper as statements: what the ledger rules on, as data that a core can decide.

A claim that is ruled false is stated as printed; one that holds under a condition, with that condition.
"""

from proofs_check.core.statement import Statement
from proofs_check.kv.formal import elsewhere, family, landscape, needs, sentence, shifted_head, two_layers

FORMAL: dict[str, Statement] = {
    **two_layers.FORMAL, **shifted_head.FORMAL, **sentence.FORMAL, **landscape.FORMAL, **elsewhere.FORMAL,
    **family.FORMAL,
}  # fmt: skip
NEEDS = needs.NEEDS
