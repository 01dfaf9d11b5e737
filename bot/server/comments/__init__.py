"""Comments on a forge: read, worded and posted."""
