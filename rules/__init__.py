"""What a domain expert edits: triggers, guards, rewrites, tolerances, devices, taxonomy."""
