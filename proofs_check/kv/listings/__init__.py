"""The listings of Appendices K and M, as written."""
