"""Outcomes of training that can only be quoted here: private runs, figures without data, models of the paper's size."""

from proofs_check.records import quoted

CLAIMS = quoted(__file__)
