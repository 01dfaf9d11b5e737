"""What a string attribute may be, by the host's own code."""

from pathlib import Path

from ci.source.discovery import load_operator
from ci.source.quoted_words import quoted_words
from ci.testing.model_operator import HOST, write

LICENCE = '// Licensed under the terms (the "License"); see "reduction" in the documentation.\n'
DECLARED = '        this->Attr("reduction").AttrType(OPTIONAL).String("mean");\n'
COMPARED = """    const char* way = context->GetAttrs()->GetStr(0);
    if (strcmp(way, "sum") == 0 || strcmp(way, "none") == 0 || strcmp(way, "sum") == 1) {
        return ge::GRAPH_FAILED;
    }
"""


def test_words_of_the_code_count_and_neither_comments_nor_names(tmp_path: Path) -> None:
    host = HOST.replace(
        "        this->AICore().SetTiling", DECLARED + "        this->AICore().SetTiling"
    )
    host = host.replace(
        "    ScaleRowsTilingData tiling;\n", COMPARED + "    ScaleRowsTilingData tiling;\n"
    )
    operator = load_operator(write(tmp_path, LICENCE + host).root)
    assert quoted_words(operator) == ("sum", "none", "mean", "ascend910b")
