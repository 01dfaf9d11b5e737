"""Places for compilations that are made before the sources are there."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from pathlib import Path

import pytest

from ci.model.errors import TrialFailure
from ci.system.compile_room import MOST_SPARE, Compilation, CompileRoom, CompileRooms
from ci.system.ledger import ledger
from tests.ci.system.levels import needs_hidden_files


def asked(*words: str) -> Compilation:
    return Compilation("op", lambda top: ["-c", "unit.cpp", "-o", "unit.o", *words], [])


@pytest.fixture
def rooms() -> Iterator[CompileRooms]:
    made = CompileRooms()
    yield made
    del made
    gc.collect()


def compiled(room: CompileRoom, text: str) -> bool:
    """Whether the text compiles in a room, which is then closed."""
    with room:
        (room.place / "unit.cpp").write_text(text)
        room.compile("kernel", "op_kernel")
        return (room.place / "unit.o").is_file()


def test_sources_laid_after_the_sandbox_was_made_are_compiled(rooms: CompileRooms) -> None:
    rooms.prepare(asked())
    with ledger() as spent:
        assert compiled(rooms.take(asked()), "int f() { return 1; }")
        assert compiled(rooms.take(asked()), "int f() { return 2; }")
    assert (spent.times["compile"], spent.ready["compile"]) == (2, 1)


def test_what_the_compiler_says_is_read_the_same_in_a_room_made_ahead(rooms: CompileRooms) -> None:
    rooms.prepare(asked())
    said = []
    for _ in range(2):
        with pytest.raises(TrialFailure) as stopped:
            compiled(rooms.take(asked()), "int f() { return x; }")
        assert stopped.value.refusal
        said.append(stopped.value.refusal)
    assert said[0] == said[1]
    assert "'x' was not declared" in said[0].message


def test_a_room_is_used_once_and_gone_afterwards(rooms: CompileRooms) -> None:
    rooms.prepare(asked())
    rooms.prepare(asked())
    first, second = rooms.take(asked()), rooms.take(asked())
    assert first.top != second.top
    assert compiled(first, "int f();")
    assert not first.top.exists()
    assert compiled(second, "int f();")


def test_a_compilation_with_other_arguments_gets_no_room_of_these(rooms: CompileRooms) -> None:
    rooms.prepare(asked("-DLIMIT=1"))
    with pytest.raises(TrialFailure):
        compiled(rooms.take(asked("-DLIMIT=2")), "static_assert(LIMIT == 1);")
    assert compiled(rooms.take(asked("-DLIMIT=1")), "static_assert(LIMIT == 1);")


@needs_hidden_files
def test_a_compilation_does_not_see_the_room_of_another(rooms: CompileRooms) -> None:
    rooms.prepare(asked())
    with rooms.take(asked()) as own, CompileRoom(asked(), ahead=True) as other:
        (other.place / "secret.h").write_text("int secret;")
        (own.place / "unit.cpp").write_text(f'#include "{other.place}/secret.h"\n')
        with pytest.raises(TrialFailure, match=r"secret\.h"):
            own.compile("kernel", "op_kernel")


def test_few_rooms_wait_and_none_when_nobody_can_ask_for_them() -> None:
    rooms = CompileRooms()
    kinds = [asked(f"-DKIND={number}") for number in range(MOST_SPARE + 1)]
    for kind in kinds:
        rooms.prepare(kind)
    waiting = [*rooms._spare.values()]
    assert len(waiting) == MOST_SPARE
    tops = [room.top for room in waiting]
    assert all(top.exists() for top in tops)
    del rooms, waiting
    gc.collect()
    assert not any(top.exists() for top in tops)


def test_what_is_done_meanwhile_and_fails_ends_the_compiler(rooms: CompileRooms) -> None:
    def fail() -> None:
        raise ValueError("no room")

    rooms.prepare(asked())
    for _ in range(2):
        with rooms.take(asked()) as room, pytest.raises(ValueError, match="no room"):
            (room.place / "unit.cpp").write_text("int f();")
            room.compile("kernel", "op_kernel", fail)


def test_a_room_fits_only_the_same_place_and_the_same_view(tmp_path: Path) -> None:
    assert asked().key != Compilation("other", asked().arguments, []).key
    assert asked().key != Compilation("op", asked().arguments, [tmp_path]).key
