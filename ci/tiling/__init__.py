"""The host tiling as a template with knobs, and the search over their values."""
