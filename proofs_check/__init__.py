"""Claims of the papers, and the small proof core that checks them."""
