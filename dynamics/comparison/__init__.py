"""Cache policies compared at equal memory on trained models, and what their heads attend to."""
