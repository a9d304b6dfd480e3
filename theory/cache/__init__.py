"""What a KV cache may forget: dropped tokens, error budgets, sizes, and the compensation token in their place."""
