"""`--proposer agent`: any command-line agent, with the judge of the run as its only judge."""
