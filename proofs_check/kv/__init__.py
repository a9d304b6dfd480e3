"""Claims of the two versions of the KV-shifting attention paper, one module per section."""

# Every module listed here exports CLAIMS, a tuple.
SECTIONS = (
    "landscape",
    "tables",
    "coupling",
    "losses",
    "configuration",
    "runs",
    "sizes",
    "text",
    "experiments",
)
