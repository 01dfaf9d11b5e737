"""What the suites of `ascendopt bench` are asked and say: data only, one module a suite."""
