"""What can only be quoted."""
