"""The static site: pages, explorer, notebooks."""
