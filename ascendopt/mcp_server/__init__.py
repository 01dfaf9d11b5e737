"""A Model Context Protocol server over the public names of `ascendopt`."""
