"""Models whose weights are written down, not trained: heads that are known, words that are two."""
