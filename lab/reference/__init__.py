"""Tables of what instructions mean, by their documentation, to test the machine with."""
