"""What decides: terms, statements, the rules that certificates must keep, and witnesses. Everything here is trusted."""
