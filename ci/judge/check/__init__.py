"""What is wrong with an operator as it is: its own cases and varied ones, built twice."""
