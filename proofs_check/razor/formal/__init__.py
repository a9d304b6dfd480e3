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
    theorem1,
)

FORMAL: dict[str, Statement] = {
    **theorem1.FORMAL, **appendix_a.FORMAL, **dropped_mass.FORMAL, **mixed_keys.FORMAL, **dropped_outputs.FORMAL,
    **compensation.FORMAL,
}  # fmt: skip
NEEDS = needs.NEEDS
