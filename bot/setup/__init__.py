"""Setting a repository up for the bot: what it has, which files it needs, what is left to do."""
