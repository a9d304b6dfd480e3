"""Figures of the landscape and its flows."""
