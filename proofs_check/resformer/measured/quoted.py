"""Sentences of ResFormer that can only be quoted here: trained models at the paper's sizes, other papers, figures."""

from proofs_check.records import quoted

CLAIMS = quoted(__file__)
