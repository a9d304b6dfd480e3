"""Whole files or none: atomic writes, locks of folders, hashes beside results, manifests."""
