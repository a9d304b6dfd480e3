"""Claims of the two versions of the KV-shifting attention paper, one module per section."""

# Every module listed here exports CLAIMS, a tuple.
SECTIONS = (
    "landscape",
    "virtual_heads",
    "depth_width",
    "method",
    "mask",
    "cost",
    "initialisation",
    "windows",
    "icl",
    "checker",
    "gates",
    "query_kernel",
    "convolution",
    "tables",
    "coupling",
    "losses",
    "configuration",
    "runs",
    "sizes",
    "text",
    "trained",
    "experiments",
)
