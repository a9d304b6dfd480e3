"""RazorAttention's cache: the tokens it keeps, its compensation token, and the masked attention that it must equal."""
