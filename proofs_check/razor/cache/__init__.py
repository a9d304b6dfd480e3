"""Sections 3.1 and 3.2: dropped tokens, the compensation token, the cache as built."""
