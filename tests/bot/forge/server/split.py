"""A diff file by file, as GitLab and GitCode give it."""

from __future__ import annotations

from typing import Any

from unidiff import PatchSet


def split(text: str) -> list[dict[str, Any]]:
    return [
        {
            "old_path": f.source_file.removeprefix("a/"),
            "new_path": f.target_file.removeprefix("b/"),
            "a_mode": "100644",
            "b_mode": "100644",
            "diff": "".join(map(str, f)),
            "new_file": f.is_added_file,
            "renamed_file": f.is_rename,
            "deleted_file": f.is_removed_file,
        }
        for f in PatchSet(text)
    ]
