"""Claims of the RazorAttention paper, one module per section."""

# Every module listed here exports CLAIMS, a tuple.
SECTIONS: tuple[str, ...] = (
    "scope",
    "scope_iff",
    "scope_mass",
    "scope_norm",
    "scope_sharp",
    "adversary",
    "tables",
    "compensation",
    "compensation_bounds",
    "compensation_variants",
    "truncation",
    "truncation_beyond",
    "truncation_sizes",
    "cache",
    "head_scores",
    "trained",
    "trained_attention",
    "reading",
    "method",
    "quoted",
)
