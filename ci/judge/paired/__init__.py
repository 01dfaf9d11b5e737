"""Which of two programs is faster on a device whose times scatter: pairs, tested in looks."""
