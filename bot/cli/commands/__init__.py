"""One module a command (or command group) of the command line."""
