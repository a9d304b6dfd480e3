"""What no paper states: critical points, learning times, routes, finite width, temperature."""
