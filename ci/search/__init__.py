"""The search: strategies, the run that they share, and how it ends."""
