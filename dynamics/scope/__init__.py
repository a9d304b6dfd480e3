"""How far the heads of a checkpoint can see, and a search for contexts that come closest to the bounds."""
