"""Claims about RazorAttention as statements: data that the core decides, one a claim of the ledger, under its id.

What a false claim states is what the paper prints.
"""

from proofs_check.core.statement import Statement
from proofs_check.razor.formal import (
    appendix_a,
    compensation,
    dropped_mass,
    dropped_outputs,
    mixed_keys,
    needs,
    table2,
    theorem1,
)

STATED = (
    *theorem1.STATED, *appendix_a.STATED, *dropped_mass.STATED, *mixed_keys.STATED, *dropped_outputs.STATED,
    *compensation.STATED, *table2.STATED,
)  # fmt: skip
FORMAL: dict[str, Statement] = {found.name: found for found in STATED}
NEEDS = needs.NEEDS
