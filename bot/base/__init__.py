"""What every part of the bot uses: git and harmless text."""
