"""The bot's web server: webhooks, health, metrics, dashboard."""
