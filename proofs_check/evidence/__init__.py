"""Hand-written evidence: margins with their tolerances, and what the core decides of expressions on boxes."""
