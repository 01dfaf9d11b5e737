"""What the bot knows of an operator repository: settings, commands, triggers, jobs, patches."""
