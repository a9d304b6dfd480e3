"""Attention modules, tasks, training and checkpoints: the only package that imports torch."""
