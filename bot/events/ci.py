"""The parts that events of CI jobs have in common on all forges."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path

from bot.base.text import WEB_ADDRESS
from bot.events.model import Event, EventError
from bot.events.reading import LARGEST, Fields, digest, load
from bot.forge.kinds import folded
from ci.model.errors import InputError
from ci.model.regular_file import file_bytes


def actions_event(
    environ: Mapping[str, str], prefix: str, read: Callable[[str, Fields], Event]
) -> Event:
    """The event of a job in GitHub's form, whose variables begin with `prefix`.

    `read` reads a payload by the event's name. Raises `EventError` when it cannot be read or is
    about another repository than the job.
    """
    name = environ.get(f"{prefix}_EVENT_NAME", "")
    body, data = payload(environ, f"{prefix}_EVENT_PATH")
    event = of_this_job(read(name, data), environ.get(f"{prefix}_REPOSITORY", ""), body)
    job = Fields(dict(environ))
    run = job.text(f"{prefix}_RUN_ID"), job.text(f"{prefix}_RUN_ATTEMPT")
    sender = event.sender or job.text(f"{prefix}_ACTOR")
    return event.model_copy(update={"delivery": "-".join(filter(None, run)), "sender": sender})


def ci_page(environ: Mapping[str, str]) -> str:
    """Web address of this run of the CI, where its results are kept; '' when it does not say, or
    what it says cannot be linked."""
    page = environ.get("CI_PIPELINE_URL", "")
    for prefix in ("GITHUB", "ATOMGIT"):
        server, home, run = (
            environ.get(f"{prefix}_{name}", "") for name in ("SERVER_URL", "REPOSITORY", "RUN_ID")
        )
        if server and home and run:
            page = f"{server}/{home}/actions/runs/{run}"
    return page if re.fullmatch(WEB_ADDRESS, page) else ""


def payload(environ: Mapping[str, str], variable: str) -> tuple[bytes, Fields]:
    """The payload in the file that a variable names; raises `EventError` when there is none."""
    path = Path(environ.get(variable, ""))
    try:
        if path.stat().st_size > LARGEST:
            raise EventError(f"{variable} names a file of more than {LARGEST} bytes.")
        body = file_bytes(path)
    except (OSError, ValueError, InputError):
        raise EventError(f"{variable} names no file that can be read.") from None
    return body, load({}, body)


def of_this_job(event: Event, repository: str, body: bytes) -> Event:
    """The event when it is about the job's own repository; raises `EventError` when not."""
    given = folded(event.repository)
    if given and repository and given != folded(repository):
        raise EventError("The payload is about another repository than the job's own.")
    return event.model_copy(
        update={"repository": event.repository or repository, "digest": digest(body)}
    )
