"""Which barriers, flags and queue calls of the source a candidate does without."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from difflib import SequenceMatcher
from typing import NamedTuple

from ci.model.amount import amount
from ci.model.result import RemovedSync
from ci.source.cpp_source import Call, Method, parse, squeeze
from rules.api import load_api


class _Sync(NamedTuple):
    """A call that orders pipes or cores; `key` is what tells it from others of its kind."""

    key: str
    text: str
    line: int


def removed_sync(before: Mapping[str, str], after: Mapping[str, str]) -> tuple[RemovedSync, ...]:
    """The calls of the sources `before` that `after` lacks, with their places before.

    What was moved, in a file or to another one, is not removed; what waits for less than it did,
    such as for one pipe in place of all, is.
    """
    own = {file: list(_calls(text)) for file, text in before.items()}
    now = {file: list(_calls(after.get(file, ""))) for file in before}
    added = [_calls(text) for file, text in after.items() if file not in before]
    missing = Counter(s.key for calls in own.values() for s in calls)
    missing.subtract(s.key for calls in (*now.values(), *added) for s in calls)
    found = []
    for file, calls in own.items():
        for sync in _deleted(calls, now[file]):
            if missing[sync.key] > 0:
                missing[sync.key] -= 1
                found.append(RemovedSync(file=file, line=sync.line, call=sync.text))
    return tuple(found)


def order_kept(texts: Mapping[str, str], launches: int, waits: tuple[int, int] | None) -> str:
    """Why the sources `texts` are believed to be ordered, in sentences.

    `launches` were checked for races; `waits` are those that automatic synchronisation inserted
    into the launches of the workload before and now, None where it is off.
    """
    kept = Counter(s.key for text in texts.values() for s in _calls(text))
    calls = ", ".join(f"{key} ({count})" for key, count in kept.most_common())
    said = f"No race was found on {amount(launches, 'launch', 'launches')}. The order is kept by "
    said += f"what is left: {calls}" if calls else "each pipe's own order"
    if waits is None:
        return f"{said}; nothing is inserted, as automatic synchronisation is off."
    return f"{said}; automatic synchronisation inserts {waits[1]} waits, {waits[0]} before."


def _deleted(own: list[_Sync], now: list[_Sync]) -> Iterator[_Sync]:
    keys, others = [s.key for s in own], [s.key for s in now]
    for what, start, end, _, _ in SequenceMatcher(None, keys, others, autojunk=False).get_opcodes():
        if what in ("delete", "replace"):
            yield from own[start:end]


def _calls(text: str) -> Iterator[_Sync]:
    source, names = parse(text), load_api().ordering.names
    found: list[tuple[int, str, Call | Method]] = []
    found += [(c.start, c.name.split("::")[-1], c) for c in source.calls]
    found += [(m.start, m.name, m) for m in source.methods]
    for start, name, call in sorted(found, key=lambda one: one[0]):
        if name in names:
            # The event of a flag and the tensor of a queue may have another name now.
            kind = "" if isinstance(call, Method) else call.template
            key = squeeze(name + kind + (f"({call.arguments[0]})" if _names_pipe(call) else ""))
            yield _Sync(key, squeeze(source.text[start : call.end]), source.line(start))


def _names_pipe(call: Call | Method) -> bool:
    return bool(call.arguments) and call.arguments[0].startswith("PIPE_")
