"""The page of the kernel API is current, and tells what documentation has beside it."""

from __future__ import annotations

from pathlib import Path

from click.testing import CliRunner

from lab.reference.api_page import lacking, main, page
from tests.places import TOP

PAGE = """# {name}

<!-- npu="910b" id1 -->
- Atlas A2 训练系列产品/Atlas A2 推理系列产品：{has}
<!-- end id1 -->
<!-- npu="950" id2 -->
```
__aicore__ inline void OfLaterChips(int x)
```
<!-- end id2 -->
```
template <typename T>
__aicore__ inline void {name}(const LocalTensor<T>& dst)
```
"""


def test_the_page_of_the_api_is_current() -> None:
    text = (TOP / "docs" / "api.md").read_text()
    assert text == page(), "run `python -m lab.reference.api_page docs`"


def test_documented_calls_that_our_headers_lack_are_listed(tmp_path: Path) -> None:
    folder = tmp_path / "docs/zh/api/SIMD-API"
    folder.mkdir(parents=True)
    for name, has in (("Adds", "支持"), ("AddsNever", "支持"), ("OfOthers", "不支持")):
        (folder / f"{name}.md").write_text(PAGE.format(name=name, has=has))
    count, missing = lacking(tmp_path)
    assert count == 2
    assert list(missing) == ["AddsNever"]
    said = CliRunner().invoke(main, ["--documented", str(tmp_path)]).output
    assert "AddsNever" in said
    assert "1 of 2 documented functions exist" in said
