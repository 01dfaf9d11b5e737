"""Data of the benches: settings, rows, results."""
