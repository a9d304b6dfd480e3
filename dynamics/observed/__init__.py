"""Observe a model while it trains: a log of what its heads do, at a bounded share of the training time."""
