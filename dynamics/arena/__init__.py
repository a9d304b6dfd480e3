"""Attention variants trained side by side on packed text: plans written first, paired seeds, verdicts that may peek."""
