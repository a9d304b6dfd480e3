"""RazorAttention's cache: what it keeps, the token for the rest, and the masked attention it must equal."""
