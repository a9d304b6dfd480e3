"""Gradient flow and descent on the closed-form loss, many trajectories at once."""
