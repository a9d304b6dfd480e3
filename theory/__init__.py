"""Closed forms, constructions and bounds for attention: sympy truth and its numpy kernels (no torch, no plotting)."""
