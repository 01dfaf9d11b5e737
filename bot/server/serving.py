"""The parts that `serve` and `watch` share: the service with its bank, and the nightly refresh."""

from __future__ import annotations

import logging
import threading
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

from bot.base.text import visible
from bot.repository.connection import Connections
from bot.repository.settings import BotSettings
from bot.server.bank_learning import bank_command, learn
from bot.server.connections import served_connections
from bot.server.one_item import told
from bot.server.queue import Queue
from bot.server.run_job import CHECKOUT, JOB_FILE, read_job, result_file
from bot.server.service import Service
from bot.server.worker import WorkSettings
from ci.model.errors import InputError, plainly
from ci.model.folder import writable_folder
from ci.session import facts

LOG: Final = logging.getLogger("ascendopt.bot")
# A refresh that takes longer than a night is stopped; it goes on in the next.
_REFRESH_LIMIT_S: Final = 8 * 3600.0


def start_service(
    settings: BotSettings, secrets: Mapping[str, str], *, dry_run: bool = False
) -> Service:
    """Connect, open the queue and start the threads. Raises InputError."""
    try:
        writable_folder(settings.data).mkdir(parents=True, exist_ok=True)
    except (ValueError, OSError) as problem:
        said = f"The folder `data` of the settings cannot be {settings.data}: {plainly(problem)}."
        raise InputError(said) from None
    connections = served_connections(settings, secrets, dry_run=dry_run)
    if not facts.files_are_closed():
        allowed = "run all the same" if settings.allow_unsandboxed else "not run"
        LOG.warning("no sandbox here closes files: what merge requests bring is %s", allowed)
    queue = Queue(settings.data / "queue.sqlite")
    work = WorkSettings(
        data=settings.data,
        bank=settings.bank_file,
        models=settings.models,
        progress_s=settings.progress_seconds,
        passed=settings.model_keys,
        allow_unsandboxed=settings.allow_unsandboxed,
        dashboard=settings.dashboard_url.rstrip("/"),
    )
    service = Service(
        queue,
        connections,
        work,
        workers=settings.workers,
        slots=settings.slots,
        look_again_s=settings.look_again_minutes * 60,
        keep_s=settings.keep_days * 86400.0,
        merged=lambda folder: learn_from(settings, folder),
    )
    service.start()
    if settings.refresh_hour is not None:
        threading.Thread(
            target=_nightly,
            args=(settings, connections, settings.refresh_hour),
            name="refresh",
            daemon=True,
        ).start()
    return service


def learn_from(settings: BotSettings, folder: Path) -> bool:
    """Feed a run that a person merged to the bank; whether that is done with."""
    try:
        job = read_job(folder / JOB_FILE)
    except InputError as problem:
        LOG.warning("nothing learnt from %s: %s", folder.name, problem)
        return True
    return learn(
        job,
        result_file(folder),
        folder / CHECKOUT,
        settings.bank_file,
        passed=settings.model_keys,
    )


def _nightly(settings: BotSettings, connections: Connections, hour: int) -> None:
    while True:
        threading.Event().wait(seconds_until(hour, datetime.now(UTC)))
        try:
            refresh(settings, connections)
        except Exception as problem:  # the next night has its turn
            LOG.warning("the bank was not refreshed: %s", told(problem))


def refresh(settings: BotSettings, connections: Connections) -> bool:
    """Refresh the bank with the default branches as they are now; whether it ended well."""
    folders = []
    for name, repository in connections.names():
        try:
            connection = connections(name, repository)
            assert connection is not None
            into = settings.data / "refresh" / connection.mirror.folder.stem
            branch = connection.forge.repository().default_branch
            connection.mirror.check_out_branch(connection.forge, branch, into)
        except Exception as problem:
            LOG.warning("%s is left out of the refresh: %s", repository, told(problem))
            continue
        folders.append(str(into))
    out = settings.data / "refresh" / "summary"
    page = out / "refresh.md"
    page.unlink(missing_ok=True)
    if not folders:
        return False
    ended = bank_command(
        *("refresh", *folders, "--out", str(out)),
        bank=settings.bank_file,
        seconds=_REFRESH_LIMIT_S,
        passed=settings.model_keys,
    )
    if ended.code != 0:
        for line in ended.words:
            LOG.warning("bank refresh: %s", line)
    if page.is_file():  # also when an operator does not pass: the others were gone over
        LOG.info("the bank was refreshed; summary in %s", out)
        for line in filter(None, page.read_text(encoding="utf-8").splitlines()):
            LOG.info("refresh: %s", visible(line, 300))
    return ended.code == 0


def seconds_until(hour: int, now: datetime) -> float:
    """Seconds from `now` (UTC) to the next time the clock shows `hour`:00, never 0."""
    then = now.replace(hour=hour, minute=0, second=0, microsecond=0)
    if then <= now:
        then += timedelta(days=1)
    return (then - now).total_seconds()


def bank_page(file: Path, query: str) -> dict[str, Any]:
    """Figures of the bank, and the tuples nearest to a query or used most."""
    from experience.bank.exchange import open_default_bank
    from experience.bank.retrieve import Query
    from experience.bank.tuple import ExperienceTuple

    bank = open_default_bank(file)
    everything = bank.all()
    figures = {"tuples": len(everything)}
    for one in everything:
        figures[one.status] = figures.get(one.status, 0) + 1
    if query:
        hits = bank.search(Query(bottleneck=query), k=20)
        rows: list[tuple[ExperienceTuple, float | None]] = [(h.tuple, h.similarity) for h in hits]
    else:
        busiest = sorted(everything, key=lambda t: (-t.wins, -t.uses, t.id))[:20]
        rows = [(one, None) for one in busiest]
    return {
        "figures": figures,
        "learnt": [one.created.date() for one in everything],
        "rows": [
            {
                "id": one.id,
                "title": one.title,
                "bottleneck": one.bottleneck,
                "similarity": similarity,
                "uses": one.uses,
                "wins": one.wins,
                "status": one.status,
            }
            for one, similarity in rows
        ],
    }
