"""Webhooks and CI events: checked, then read into one `Event`."""
