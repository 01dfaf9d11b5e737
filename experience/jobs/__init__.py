"""Work on a bank: rewind, refresh, landscape, summary."""
