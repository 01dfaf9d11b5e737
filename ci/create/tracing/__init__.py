"""What runs in the sandbox to trace a golden function; it sees numpy and nothing else of ours."""
