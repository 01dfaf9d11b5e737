"""The bot at work: queue, planner, worker, delivery, status."""
