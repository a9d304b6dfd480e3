"""Claims of the two versions of the KV-shifting attention paper, one module per section."""
