"""Figures of constructions, scopes and sinks."""
