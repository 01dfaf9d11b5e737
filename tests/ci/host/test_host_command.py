"""Which header an include means, compiled with the real compiler."""

from __future__ import annotations

from pathlib import Path

import pytest

from ci.census.run import take_census
from ci.model.census import CensusRow, CensusSettings, Stage
from tests.ci.small_operator import DEFINITION, KERNEL, TILING

OWN_LOG = '#pragma once\n#include "acl/acl_base.h"\n#define SAY(...) \\\n'
OWN_LOG += "    aclAppLog(ACL_ERROR, __FUNCTION__, __FILE__, __LINE__, __VA_ARGS__)\n"


def tried(top: Path, host: str, kernel: str) -> CensusRow:
    """The census row of an operator in a repository with headers of its own in `far/away`."""
    root, own = top / "ops" / "scale_mask", top / "far" / "away"
    (own / "log").mkdir(parents=True)
    (own / "log" / "log.h").write_text(OWN_LOG)
    (top / ".git").mkdir()
    tiling = TILING.replace("const uint32_t total", 'SAY("%d", 1);\n    const uint32_t total')
    text = host + (tiling if host else TILING) + DEFINITION
    for side, source in (("op_host", text), ("op_kernel", kernel + KERNEL)):
        (root / side).mkdir(parents=True)
        (root / side / "scale_mask.cpp").write_text(source)
    (row,) = take_census(top, CensusSettings(pool="local:1"), top / "out", lambda *_: None)
    return row


@pytest.mark.long
@pytest.mark.every_level
def test_a_repositorys_own_header_goes_before_our_base_librarys(tmp_path: Path) -> None:
    row = tried(tmp_path, '#include "log/log.h"\n', "")
    assert Stage.HOST_BUILDS in row.passed, row.failures


@pytest.mark.long
def test_host_and_kernel_have_what_is_for_logs_dumps_and_device_tilings(tmp_path: Path) -> None:
    host = """#include "utils/log/asc_cpu_log.h"
#define SAY(...) ASC_CPU_LOG_INFO("core %d", 1)
#include "register/device_op_impl_registry.h"
static ge::graphStatus Sunk(gert::TilingContext* context) {
    return context == nullptr ? ge::GRAPH_FAILED : ge::GRAPH_SUCCESS;
}
DEVICE_IMPL_OP_OPTILING(Another).Tiling(Sunk);
"""
    kernel = """#include "kernel_operator.h"
static_assert(AscendC::TOTAL_VEC_LOCAL_SIZE == 184 * 1024);
__aicore__ inline void Dumped(AscendC::LocalTensor<half> row) {
    AscendC::DumpAccChkPoint(row, 2, 0, 32);
}
"""
    row = tried(tmp_path, host, kernel)
    assert Stage.KERNEL_BUILDS in row.passed, row.failures


@pytest.mark.long
def test_a_kernel_may_include_what_only_hosts_use(tmp_path: Path) -> None:
    headers = ("toolchain/slog.h", "platform/platform_infos_def.h", "register/op_def_registry.h")
    row = tried(tmp_path, "", "".join(f'#include "{name}"\n' for name in headers))
    assert Stage.KERNEL_BUILDS in row.passed, row.failures
