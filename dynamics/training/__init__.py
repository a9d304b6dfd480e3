"""Training: steps, streams, evaluation, folders that resume, checkpoints, ensembles."""
