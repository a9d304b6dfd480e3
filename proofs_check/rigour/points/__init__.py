"""Points: the refuter, and what floats show of a goal. Believed in nothing."""
