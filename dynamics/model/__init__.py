"""Attention with shifted keys and values, the decoder around it, and models made by hand."""
