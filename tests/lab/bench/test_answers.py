"""Answers are read as data, in both layouts; what cannot be read is a sentence."""

from __future__ import annotations

from pathlib import Path

import pytest

from ci.model.errors import InputError
from lab.bench.answers import answer_files, digest_of

STRINGS = '''Here it is:
```python
project_json_src = "[]"
host_tiling_src = """struct T {};"""
host_operator_src = """#include "relu_custom_tiling.h"
"""
kernel_src = "// kernel"
import os
os.mkdir("RUN")
```
'''


def test_strings_become_files_and_nothing_is_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "relu.txt").write_text(STRINGS)
    files = answer_files(tmp_path, "activation", "relu")
    assert files is not None
    assert set(files) == {
        "op_host/relu_custom.cpp",
        "op_host/relu_custom_tiling.h",
        "op_kernel/relu_custom.cpp",
    }
    assert files["op_kernel/relu_custom.cpp"] == "// kernel"
    assert not (tmp_path / "RUN").exists()


def test_a_folder_gives_its_two_sides_and_no_link_leads_out(tmp_path: Path) -> None:
    operator = tmp_path / "activation" / "relu" / "project"
    (operator / "op_kernel").mkdir(parents=True)
    (operator / "op_kernel" / "relu.cpp").write_text("// kernel")
    (operator / "op_kernel" / "secret.txt").write_text("none of its business")
    (operator / "golden.py").write_text("def golden(x): return x")
    assert answer_files(tmp_path, "activation", "relu") == {"op_kernel/relu.cpp": "// kernel"}
    (tmp_path / "outside.cpp").write_text("")
    (operator / "op_kernel" / "link.cpp").symlink_to(tmp_path / "outside.cpp")
    with pytest.raises(InputError, match="leads out"):
        answer_files(tmp_path, "activation", "relu")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("kernel_src = (", "no Python text"),
        ("kernel_src = 5\nhost_operator_src = 'x'", "sets no text kernel_src"),
        ("(" * 5000, "no Python text"),
        ("\0", "no Python text"),
    ],
)
def test_what_is_no_answer_is_a_sentence(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "relu.txt").write_text(text)
    with pytest.raises(InputError, match=said):
        answer_files(tmp_path, "activation", "relu")


def test_no_answer_is_none_and_texts_have_a_digest(tmp_path: Path) -> None:
    assert answer_files(tmp_path, "activation", "relu") is None
    assert digest_of({"a": "b"}) != digest_of({"a": "c"})
