"""Sentences of the waiver paper that can only be quoted here: large models, and what training does."""

from proofs_check.records import quoted

CLAIMS = quoted(__file__)
