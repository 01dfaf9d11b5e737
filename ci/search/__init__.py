"""Algorithm 1 of AscendOptimizer: alternate tiling evolution and kernel rewriting."""
