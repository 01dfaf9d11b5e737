"""Runs examples of asc-devkit unchanged: host program, kernels, and their verdict."""
