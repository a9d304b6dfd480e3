"""Side-by-side timings; every printed figure is a ratio measured inside one run."""
