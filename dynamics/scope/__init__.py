"""How far the heads of a checkpoint can see, and the contexts that a bound fears most."""
