"""Claims of papers and their verdicts: records, the registry, the run of their evidence, the store of certificates."""
