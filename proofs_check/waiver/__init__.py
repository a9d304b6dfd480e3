"""Claims of the waiver paper (anomalous attention distribution), one module per section."""

# Every module listed here exports CLAIMS, a tuple.
SECTIONS: tuple[str, ...] = (
    "elements.waivers", "elements.causal", "elements.denominators", "elements.atlas", "elements.slips",
    "measured.quoted",
)  # fmt: skip
