"""Sweeps: many jobs into one folder, resumed after any kill; shipped results, times that may be censored."""
