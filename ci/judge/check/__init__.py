"""What is wrong with an operator as it is, seen on its own cases and on varied ones."""
