"""Banks as JSON lines, one tuple a line: to ship a bank, to share it, to look at it."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from pydantic import ValidationError

from ci.errors import InputError
from experience.bank import Bank
from experience.tuple import ExperienceTuple

SHIPPED = Path(__file__).with_name("shipped_tuples.jsonl")
"""What `ascendopt bank rewind` earned on the operators that this project ships."""


def export_lines(tuples: Iterable[ExperienceTuple], path: Path) -> int:
    """Write tuples as JSON lines without their uses and wins, ordered by id; how many there are.

    Uses and wins belong to the bank in which they were earned.
    """
    lines = [t.model_dump_json(exclude={"uses", "wins"}) for t in sorted(tuples, key=_id)]
    try:
        path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    except OSError as problem:
        raise InputError(f"Cannot write {path}: {problem.strerror}.") from problem
    return len(lines)


def import_lines(bank: Bank, path: Path) -> tuple[int, int]:
    """Add the tuples of a JSON-lines file to a bank: (new, already known).

    The whole file is read before the first is stored: a broken line leaves the bank as it was.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as problem:
        raise InputError(f"Cannot read tuples from {path}: {problem}.") from problem
    tuples: list[ExperienceTuple] = []
    for number, line in enumerate(text.splitlines(), start=1):
        try:
            tuples.append(ExperienceTuple.model_validate_json(line))
        except ValidationError as problem:
            first = problem.errors()[0]
            where = ".".join(str(part) for part in first["loc"]) or "the line"
            raise InputError(
                f"{path}, line {number} is no experience tuple: {where}: {first['msg']}."
            ) from problem
    new = bank.add_all(tuples)
    return new, len(tuples) - new


def open_default_bank(path: Path) -> Bank:
    """The bank at `path`, made from the shipped tuples when there is no file yet."""
    fresh = not path.exists()
    path.parent.mkdir(parents=True, exist_ok=True)
    bank = Bank(path)
    if fresh and SHIPPED.exists():
        import_lines(bank, SHIPPED)
    return bank


def _id(t: ExperienceTuple) -> str:
    return t.id
