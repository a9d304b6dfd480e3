"""Search and tactics: they hand certificates and witnesses to the core, which believes nothing of them."""
