"""Tables and figures, and what can only be quoted."""
