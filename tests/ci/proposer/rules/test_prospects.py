"""What the profile rules out before it is evaluated."""

from typing import Any

import pytest

from ci.model.trial import CaseMeasurement, Fingerprint, Measurement, PipeTime
from ci.proposer.motifs.rewrite import Application, applications
from ci.proposer.rules.prospects import can_matter
from rules.load import load_motifs

MOTIFS = {m.id: m for m in load_motifs()}
KERNEL = """constexpr int32_t BUFFER_NUM = 1;
constexpr int32_t TILE_LENGTH = 512;
class K {
    void Init() { pipe.InitBuffer(a, 1, n); pipe.InitBuffer(b, n); }
    void Compute()
    {
        LocalTensor<float> tmp = b.Get<float>();
        Muls(tmp, x, s, n);
        Add(y, y, tmp, n);
        Mul(y, y, x, n);
        Add(y, y, z, n);
    }
    TQue<QuePosition::VECIN, 1> a;
    TBuf<QuePosition::VECCALC> b;
};
"""


def measured(*shares: float, peak: int = 100_000, conflicts: float = 0.1) -> Measurement:
    """A case for each share of the time that the vector unit is busy."""
    cases = tuple(
        CaseMeasurement(
            case=str(number),
            samples_us=(1.0,),
            median_us=1.0,
            low_us=1.0,
            high_us=1.0,
            pipes=PipeTime(
                total_cycles=1000,
                block_dim=1,
                busy_cycles={"VECTOR": 1000 * share},
                ub_peak_bytes=peak,
                bank_conflict_cycles=1000 * conflicts,
            ),
        )
        for number, share in enumerate(shares)
    )
    device = Fingerprint(backend="sim", device="910B4", version="1", simulated=True)
    return Measurement(fingerprint=device, cases=cases)


def application(motif: str, variant: int | None = None) -> Application:
    found = applications(MOTIFS[motif], MOTIFS[motif].forward, {"k.cpp": KERNEL})
    return next(one for one in found if variant in (None, one.variant))


def test_room_is_that_of_the_cases_that_run_the_file() -> None:
    one = application("double-buffering")
    full, roomy = measured(0.5, 0.5, peak=180_000).cases
    assert not can_matter(one, measured(0.5, 0.5, peak=180_000))
    small = roomy.pipes.model_copy(update={"ub_peak_bytes": 90_000, "ran": {"k.cpp": (8,)}})
    large = full.pipes.model_copy(update={"ran": {"wide.cpp": (8,)}})
    cases = tuple(
        case.model_copy(update={"pipes": pipes}) for case, pipes in ((full, large), (roomy, small))
    )
    known = measured(0.5, 0.5).model_copy(update={"cases": cases})
    assert can_matter(one, known)


def test_cycles_of_an_idle_unit_are_not_worth_a_trial() -> None:
    fused = application("fuse-axpy")
    assert not can_matter(fused, measured(0.02, 0.03))
    assert can_matter(fused, measured(0.02, 0.3))


@pytest.mark.parametrize(
    ("motif", "variant", "fits", "overflows"),
    [
        ("bank-offset", 0, 196_608 - 256, 196_608 - 255),
        ("double-buffering", 0, 150_000, 190_000),
        ("larger-tile", 0, 120_000, 140_000),
        ("larger-tile", 2, 40_000, 60_000),
        ("smaller-tile", 0, 196_608, 0),
    ],
)
def test_what_overflows_the_unified_buffer_is_not_tried(
    motif: str, variant: int, fits: int, overflows: int
) -> None:
    one = application(motif, variant)
    assert can_matter(one, measured(0.5, peak=fits))
    if overflows:
        assert not can_matter(one, measured(0.5, peak=overflows))


@pytest.mark.parametrize(("conflicts", "matters"), [(0.0, False), (0.05, True)])
def test_buffers_are_shifted_where_operands_conflict(conflicts: float, matters: bool) -> None:
    said: dict[str, Any] = {"peak": 1000, "conflicts": conflicts}
    assert can_matter(application("bank-offset"), measured(0.5, **said)) is matters


def test_one_instruction_that_takes_longer_than_two_is_not_tried() -> None:
    assert not can_matter(application("fuse-muladd"), measured(0.9))


@pytest.mark.parametrize(("megabytes", "worth_a_trial"), [(40, False), (60, True)])
def test_a_stream_past_l2_is_worth_a_trial_where_l2_does_not_hold_it(
    megabytes: int, worth_a_trial: bool
) -> None:
    kernel = {"k.cpp": "class K { void Init() { xGm.SetGlobalBuffer(x, n); } };"}
    (one,) = applications(MOTIFS["cache-hint"], MOTIFS["cache-hint"].forward, kernel)
    (case,) = measured(0.5).cases
    moved = {"gm_read_bytes": megabytes << 20, "gm_write_bytes": megabytes << 20}
    large = case.model_copy(update={"pipes": case.pipes.model_copy(update=moved)})
    assert can_matter(one, measured(0.5).model_copy(update={"cases": (large,)})) is worth_a_trial


@pytest.mark.parametrize(("bytes_a_copy", "worth_a_trial"), [(8192, True), (32768, False)])
def test_an_aligned_start_is_worth_a_trial_where_copies_are_short(
    bytes_a_copy: int, worth_a_trial: bool
) -> None:
    host = {"h.cpp": "void Tiling() { uint32_t ubBlocks = ubSize / parts / 32; Use(ubBlocks); }"}
    (one,) = applications(MOTIFS["align-tile"], MOTIFS["align-tile"].forward, host)
    (case,) = measured(0.5).cases
    assert can_matter(one, measured(0.5))  # nobody counted
    counted = {"gm_read_bytes": 10 * bytes_a_copy, "instructions": {"copy_gm_to_ubuf": 10}}
    copied = case.model_copy(update={"pipes": case.pipes.model_copy(update=counted)})
    assert can_matter(one, measured(0.5).model_copy(update={"cases": (copied,)})) is worth_a_trial
