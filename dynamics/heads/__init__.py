"""Which heads do what: named by their attention, scored on copies, placed on the landscape."""
