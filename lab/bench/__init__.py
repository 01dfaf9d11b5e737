"""What `ascendopt bench` measures, one module a suite."""
