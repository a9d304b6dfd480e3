"""Claims about waiver elements as statements: data that the core decides, one a claim of the ledger, under its id."""

from proofs_check.core.statement import Statement
from proofs_check.waiver.formal import atlas, tokens

FORMAL: dict[str, Statement] = tokens.FORMAL | atlas.FORMAL
NEEDS: dict[str, str] = {}
