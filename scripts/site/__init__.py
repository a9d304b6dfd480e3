"""Pages that need no Python to be read; `explorer.html` is written by hand and opens from a file."""
