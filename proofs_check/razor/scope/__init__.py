"""Theorem 1 and Appendix A: how far a head can see, exactly when the printed scope holds, attacks on the bounds."""
