"""Claims of the waiver paper (anomalous attention distribution), one module per section."""

# Every module listed here exports CLAIMS, a tuple.
SECTIONS: tuple[str, ...] = (
    "formal.tokens", "formal.atlas", "elements.waivers", "elements.causal", "elements.slips",
    "measured.quoted",
)  # fmt: skip
