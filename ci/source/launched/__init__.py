"""Kernels without an op definition: what a workload says of their launch, as an operator."""
