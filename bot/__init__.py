"""The repository bot: events, forges, merge requests, reports, the command line."""
