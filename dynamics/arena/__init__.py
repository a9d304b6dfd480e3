"""Attention variants trained side by side on packed text: fixed plans, paired seeds, verdicts valid at every look."""
