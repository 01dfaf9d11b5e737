"""A second buffer for queues, and half the tile for it: both halves change together."""

from ci.proposer.motifs.rewrite import joint_applications
from ci.testing.model_operator import HOST, HOST_FILE, KERNEL, KERNEL_FILE
from rules.load import load_motifs

MOTIF = next(m for m in load_motifs() if m.id == "double-buffering-with-room")
COUNTED = "BUFFER_NUM = {}"


def changed(host: str, kernel: str = KERNEL) -> list[dict[str, str]]:
    """The files of each way to apply the motif."""
    found = joint_applications(MOTIF, {HOST_FILE: host}, {KERNEL_FILE: kernel})
    return [{one.path: one.text, **one.also} for one in found]


def test_the_host_divides_by_the_buffers_that_the_kernel_has() -> None:
    counted, _ = changed(HOST)
    assert counted == {
        KERNEL_FILE: KERNEL.replace(COUNTED.format(1), COUNTED.format(2)),
        HOST_FILE: HOST.replace(COUNTED.format(1), COUNTED.format(2)),
    }


def test_a_host_that_counts_no_buffers_cuts_from_half_the_memory() -> None:
    host = HOST.replace("const uint32_t BUFFER_NUM = 1;\n", "").replace(" / BUFFER_NUM", "")
    (halved,) = changed(host)
    asked = "GetCoreMemSize(platform_ascendc::CoreMemType::UB, ubSize);"
    assert halved[HOST_FILE] == host.replace(asked, f"{asked}\n    ubSize /= 2;")


def test_queues_of_two_buffers_and_hosts_that_ask_for_no_memory_are_left() -> None:
    assert changed(HOST, KERNEL.replace(COUNTED.format(1), COUNTED.format(2))) == []
    assert changed("uint64_t tile = 4096;\n") == []
