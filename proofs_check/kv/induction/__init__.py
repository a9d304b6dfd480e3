"""Section 3.1: the definition of induction, Theorems 3.2 and 3.3 with their proofs, depth and width."""
