"""Sentences of RazorAttention that can only be quoted here: large models, other methods, priority, lost figures."""

from proofs_check.records import quoted

CLAIMS = quoted(__file__)
