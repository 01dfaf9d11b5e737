"""What an operator takes from the shared folders and may change."""

from pathlib import Path

from ci.source.discovery import load_operator
from tests.ci.family import PIPELINE, TILING, write_family


def test_the_shared_pipeline_and_the_shared_tiling_are_sources_of_the_operator(
    tmp_path: Path,
) -> None:
    operator = load_operator(write_family(tmp_path))
    assert operator.shared_paths == {
        PIPELINE: "src/common/inc/family/pipeline.h",
        TILING: "src/common/src/family/family_tiling.cpp",
    }
    assert PIPELINE in operator.kernel_sources
    assert operator.tiling_sources == (TILING,)
    assert operator.shared_host_sources == ()
    assert operator.path(PIPELINE) == tmp_path / "src/common/inc/family/pipeline.h"
    seen = operator.seen_from_folder(PIPELINE)
    assert (operator.root / seen).resolve() == operator.path(PIPELINE).resolve()
    assert operator.seen_from_folder(operator.kernel_entry) == operator.kernel_entry


def test_a_header_of_another_folder_of_kernels_is_seen_where_it_lies(tmp_path: Path) -> None:
    operator = load_operator(write_family(tmp_path))
    header = tmp_path / "src/common/op_kernel/step.h"
    header.parent.mkdir()
    header.write_text("")
    seen = operator.seen_from_folder("op_kernel/step.h")
    assert (operator.root / seen).resolve() == header.resolve()
    assert operator.seen_from_folder("op_kernel/no.h") == "op_kernel/no.h"


def test_what_only_names_constants_is_not(tmp_path: Path) -> None:
    operator = load_operator(write_family(tmp_path))
    assert not any("names.h" in source for source in operator.sources)


def test_a_header_that_leads_to_a_changed_one_is(tmp_path: Path) -> None:
    root = write_family(tmp_path)
    (tmp_path / "src/common/inc/family/all.h").write_text('#include "pipeline.h"\n')
    kernel = root / "op_kernel" / "twice.cpp"
    kernel.write_text(kernel.read_text().replace('"pipeline.h"', '"all.h"'))
    assert "op_kernel/src/common/inc/family/all.h" in load_operator(root).sources


def test_an_operator_that_cuts_its_data_itself_shares_no_tiling(tmp_path: Path) -> None:
    root = write_family(tmp_path)
    host = root / "op_host" / "twice.cpp"
    own = "static ge::graphStatus Own(gert::TilingContext* context) { return ge::GRAPH_SUCCESS; }\n"
    host.write_text(host.read_text().replace("namespace ops {", own + "namespace ops {", 1))
    operator = load_operator(root)
    assert TILING not in operator.sources
    assert PIPELINE in operator.sources


def test_outside_a_repository_nothing_is_shared(tmp_path: Path) -> None:
    root = write_family(tmp_path)
    (tmp_path / ".git").rename(tmp_path / "gone")
    operator = load_operator(root)
    assert operator.shared_sources == ()
    assert len(operator.shared_host_sources) == 1
