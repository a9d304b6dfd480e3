"""Pilot claims of the KV-shifting paper as statements: what the ledger rules on, as data that a core can decide.

A claim that is ruled false is stated as printed; one that holds under a condition, with that condition.
"""

from proofs_check.core.statement import Statement
from proofs_check.kv.formal import elsewhere, family, landscape, needs, sentence, shifted_head, two_layers

STATED = (
    *two_layers.two_layers(), *shifted_head.shifted_head(), *sentence.sentence(), *landscape.landscape(),
    *elsewhere.elsewhere(),
)  # fmt: skip
FORMAL: dict[str, Statement] = {found.name: found for found in STATED} | family.FORMAL
NEEDS = needs.NEEDS
