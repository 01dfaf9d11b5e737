"""Host tiling: built with the operator's own sources, asked for a case, laid out for the kernel."""
