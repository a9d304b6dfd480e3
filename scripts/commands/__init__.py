"""Commands that a user types."""
