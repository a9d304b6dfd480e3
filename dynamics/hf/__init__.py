"""A transformers model's attention through one contract, and generation with the Razor cache."""
