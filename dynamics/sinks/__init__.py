"""Attention sinks of a model on a text: what tokens are given, their values and states, and what a mask changes."""
