"""The modules behind the public names of `ascendopt`; import the names from `ascendopt` itself."""
