"""What a waiver is, where it comes from under a causal mask, and other ways out of a softmax."""
