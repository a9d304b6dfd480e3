"""Figures of trained models."""
