"""Packages that traced code imports in place of PyTorch; see `torch/`."""
