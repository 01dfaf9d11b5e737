"""Says whether a candidate is right, and how fast: gates, comparison, measurement."""
