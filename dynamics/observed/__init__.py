"""A model observed while it trains: what its heads do at each moment, in a log, at a cost that is held to a share."""
