"""The experience bank: earned optimization motifs, kept and retrieved."""
