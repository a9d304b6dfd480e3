"""Checkpoints of others: files checked before they are believed, weights read head by head, one file a family."""
