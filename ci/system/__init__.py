"""What the machine gives: sandbox, scratch, compiler, cache, files of databases, YAML."""
