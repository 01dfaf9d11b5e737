"""On the path of traced code where PyTorch is not installed; see `torch/`."""
