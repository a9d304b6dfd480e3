"""What was measured: tables, scores of heads, trained models, and sentences that can only be counted or quoted."""
