"""Cases like a workload's and yet others, made on purpose, one family of them a file."""
