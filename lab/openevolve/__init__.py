"""OpenEvolve's own program, driven by a run: its process, its model and its evaluator."""
