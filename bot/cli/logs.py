"""The bot's log: plain lines for a person, JSON lines for a collector, both on stderr.

Much of what is logged is text from outside, so nothing of it may steer a terminal or a CI's runner.
"""

from __future__ import annotations

import json
import logging
import sys
from datetime import UTC, datetime

from bot.base.text import harmless, visible


class _Lines(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        at = datetime.fromtimestamp(record.created, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        return harmless(f"{at} {record.levelname.lower():<7} {visible(record.getMessage(), 2000)}")


class _Json(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        at = datetime.fromtimestamp(record.created, UTC).isoformat()
        line = {"time": at, "level": record.levelname.lower(), "message": record.getMessage()}
        return harmless(json.dumps(line))


class _Words(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        return harmless(super().format(record))


def guard() -> None:
    """Make harmless what is logged without `configure`: warnings of every other command.

    Where a line cannot be written, its text is not printed raw with the reason.
    """
    logging.raiseExceptions = False
    if logging.lastResort is not None:
        logging.lastResort.setFormatter(_Words())


def configure(as_json: bool) -> None:
    """Send the bot's log to stderr."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_Json() if as_json else _Lines())
    for name in ("ascendopt", "uvicorn.error"):
        logger = logging.getLogger(name)
        logger.handlers[:] = [handler]
        logger.propagate = False
        logger.setLevel(logging.INFO if name == "ascendopt" else logging.WARNING)
