"""Results of the benches in words and pictures."""
