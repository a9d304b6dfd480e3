"""Figures with their panels."""
