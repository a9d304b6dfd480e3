"""Claims of the RazorAttention paper, one module per section."""

# Every module listed here exports CLAIMS, a tuple.
SECTIONS: tuple[str, ...] = (
    "scope.theorem1",
    "scope.iff",
    "scope.mass",
    "scope.norm",
    "scope.sharp",
    "scope.adversary",
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
