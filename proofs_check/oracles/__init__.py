"""Brute force that shares no formula with theory: attention by loops, in floats, 50 digits and balls."""
