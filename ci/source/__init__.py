"""Reads an operator: C++, CMake, discovery, definition, workload, inputs, golden."""
