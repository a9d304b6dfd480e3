"""Section 2.2 and what surrounds it: the shift, its cost and start, in-context learning, gates, latents, discussion."""
