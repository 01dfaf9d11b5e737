from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from ci.model.frozen import Frozen
from ci.system.row_file import RowFile


class Named(Frozen):
    name: str
    value: int = 0


def rows_at(path: Path | None) -> RowFile[str, Named]:
    return RowFile(path, Named, lambda row: row.name)


def test_the_latest_row_of_a_key_is_found_again(tmp_path: Path) -> None:
    path = tmp_path / "new" / "rows.jsonl"
    for value in (1, 2):
        rows_at(path).add(Named(name="a", value=value))
    assert rows_at(path).rows == {"a": Named(name="a", value=2)}
    assert len(path.read_text().splitlines()) == 2


def test_a_row_may_hold_what_separates_lines_elsewhere(tmp_path: Path) -> None:
    row = Named(name="a\x85b\u2028c\u2029d")
    rows_at(tmp_path / "rows.jsonl").add(row)
    assert rows_at(tmp_path / "rows.jsonl").rows == {row.name: row}


def test_half_a_line_and_lines_of_another_kind_are_left_out_and_none_is_lost_behind_them(
    tmp_path: Path,
) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_bytes(b'{"name": "a"}\n{"other": 1}\n{"name": "\xff\n{"name": "b", "va')
    kept = rows_at(path)
    assert [*kept.rows] == ["a"]
    kept.add(Named(name="c"))
    kept.add(Named(name="d"))
    assert [*rows_at(path).rows] == ["a", "c", "d"]


def test_reading_changes_no_file_and_without_a_file_nothing_is_written(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    assert rows_at(path).rows == {} and not path.exists()
    path.write_text('{"name": "a')
    assert rows_at(path).rows == {} and path.read_text() == '{"name": "a'
    kept = rows_at(None)
    kept.add(Named(name="a"))
    assert [*kept.rows] == ["a"]


def test_rows_of_several_threads_do_not_mix(tmp_path: Path) -> None:
    kept = rows_at(tmp_path / "rows.jsonl")
    with ThreadPoolExecutor(4) as threads:
        list(threads.map(lambda n: kept.add(Named(name=f"{n}" * 200, value=n)), range(200)))
    assert len(rows_at(tmp_path / "rows.jsonl").rows) == 200
