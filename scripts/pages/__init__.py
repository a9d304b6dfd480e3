"""Pages: Markdown, the site, and what they are made of."""
