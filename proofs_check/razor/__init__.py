"""Claims of the RazorAttention paper, one module per section."""

# Every module listed here exports CLAIMS, a tuple.
SECTIONS: tuple[str, ...] = (
    "formal.theorem1", "formal.appendix_a", "formal.dropped_mass", "formal.dropped_outputs", "formal.mixed_keys",
    "formal.compensation", "formal.table2",
    "scope.theorem1",
    "scope.iff",
    "scope.mass",
    "scope.norm",
    "scope.sharp",
    "scope.norm_epsilon",
    "measured.tables",
    "cache.compensation",
    "cache.compensation_bounds",
    "cache.compensation_variants",
    "cache.truncation",
    "cache.truncation_beyond",
    "cache.truncation_sizes",
    "cache.built",
    "measured.head_scores",
    "measured.trained",
    "measured.trained_attention",
    "measured.reading",
    "measured.method",
    "measured.quoted",
)
