"""Where a candidate runs: sim (default), cann, replay."""
