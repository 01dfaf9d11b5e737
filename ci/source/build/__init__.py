"""What a repository's own build says of an operator."""
