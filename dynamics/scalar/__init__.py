"""The theorem's own model: four trained scalars, what theory predicts of them, and a study of both."""
