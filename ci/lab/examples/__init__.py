"""Runs examples of asc-devkit as they stand: host program, kernels, and their verdict."""
