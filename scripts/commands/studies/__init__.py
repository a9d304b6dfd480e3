"""Studies: trainings and tables that answer one question each."""
