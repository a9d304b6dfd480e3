"""From a sympy expression to numbers: numpy, torch and mpmath, or Arb balls, boxes and comparisons for proofs."""
