"""Tasks: the papers' synthetic ones with their exact laws, and text with needles."""
