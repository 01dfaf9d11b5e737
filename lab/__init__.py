"""Measures the tool itself: benches, published cases, calibration. In a checkout, in no wheel."""
