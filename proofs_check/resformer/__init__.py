"""Claims of the ResFormer paper, one module per section."""

# Every module listed here exports CLAIMS, a tuple.
SECTIONS: tuple[str, ...] = (
    "formal",
    "residual.cross_layer",
    "residual.memory",
    "concentration.importance",
    "measured.tables",
    "measured.quoted",
)
