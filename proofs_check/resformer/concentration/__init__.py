"""Section 4.1 and Appendix A.1: importance, entropy, spectra, similarity, drain."""
