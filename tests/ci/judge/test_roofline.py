import pytest

from ci.backend.sim import SimulatorBackend
from ci.judge.evaluate import Evaluator
from ci.judge.gate_subject import EvaluationSettings
from ci.judge.roofline import (
    NEAR,
    copies_us,
    floor,
    floor_at,
    floor_of,
    launched_on,
    left_to_win,
    ports_of,
    roofline,
)
from ci.model.ensemble import ensemble
from ci.model.trial import Candidate, CaseMeasurement, Measurement, PipeTime
from ci.model.workload import TensorCase
from ci.source.discovery import load_operator
from ci.source.workload_file import load_workload
from rules.devices import load_device
from tests.places import OPERATORS

DEVICE = load_device("910B4")


def case(busy: dict[str, float], moved: int = 0, block_dim: int = 40) -> CaseMeasurement:
    pipes = PipeTime(
        total_cycles=1000,
        block_dim=block_dim,
        busy_cycles=busy,
        gm_read_bytes=moved,
        bank_conflict_cycles=100.0,
    )
    return CaseMeasurement(
        case="a", samples_us=(1.0,), median_us=1.0, low_us=1.0, high_us=1.0, pipes=pipes
    )


def test_bandwidth_is_the_least_time_of_the_copies_over_the_time() -> None:
    reachable = DEVICE.number("hbm.bytes_per_second") * DEVICE.number("hbm.efficiency")
    found = roofline(case({}, moved=int(reachable / 1e6 / 2)), DEVICE)
    assert found.bandwidth == pytest.approx(0.5, rel=1e-3)
    assert found.bound == "bandwidth"
    assert "50% of what memory, L2 and ports can copy" in found.sentence()


def test_no_share_of_a_peak_is_above_one() -> None:
    found = roofline(case({}, moved=int(1e8)), DEVICE)  # in a microsecond: L2 answered it
    assert found.bandwidth == 1.0


def test_conflicts_and_idle_cores_are_no_achievement() -> None:
    full = roofline(case({"VECTOR": 600.0}), DEVICE)
    half = roofline(case({"VECTOR": 600.0}, block_dim=20), DEVICE)
    assert full.vector == pytest.approx(0.5)
    assert half.vector == pytest.approx(0.25)
    assert full.bound == "arithmetic"


def test_a_cube_kernel_is_measured_against_the_cube() -> None:
    found = roofline(case({"CUBE": 500.0}, block_dim=20), DEVICE)
    assert found.cube == pytest.approx(0.5)
    assert "chip's cube peak" in found.sentence()


def test_the_floor_is_the_launch_on_the_cores_that_pay_and_the_slower_of_copies_and_units() -> None:
    launch, cycles = DEVICE.number("launch.base_us"), DEVICE.number("launch.start_up_cycles")
    launch += (cycles + DEVICE.number("launch.fetch_cycles_per_core")) / DEVICE.clock_mhz
    assert floor(DEVICE, 0, 0, 0, 0).us == pytest.approx(launch)
    peak = DEVICE.number("hbm.bytes_per_second") * DEVICE.number("hbm.efficiency")
    copies = floor(DEVICE, int(peak), 0, 0, 0).us
    assert 1e6 < copies < 1e6 + 20 * launch
    assert floor(DEVICE, int(peak), 0, 1e9, 0).us == copies  # units work beside the copies
    many = 1e12
    assert floor(DEVICE, 0, 0, many, 0).us > many / DEVICE.vector_cores / DEVICE.clock_mhz
    assert floor(DEVICE, 0, 0, 0, many).us > many / DEVICE.cube_cores / DEVICE.clock_mhz


def test_what_is_written_stays_in_l2_as_far_as_it_holds_it() -> None:
    l2, read = int(DEVICE.number("l2.bytes")), 80_000_000
    alone = floor(DEVICE, read, 0, 0, 0).copies_us
    assert floor(DEVICE, read, l2, 0, 0).copies_us == alone
    assert floor(DEVICE, read, l2 + read, 0, 0).copies_us > 2.5 * alone, (
        "written back at more than a read"
    )


def test_what_is_written_takes_its_port_and_the_second_cache() -> None:
    megabytes = 33_600_000
    written = floor(DEVICE, 0, megabytes, 0, 0)
    memory = DEVICE.number("hbm.bytes_per_second") * DEVICE.number("hbm.efficiency")
    rate = DEVICE.number("l2.bytes_per_second") + memory  # what buffers hold passes at the latter
    assert written.copies_us >= 0.97 * megabytes / rate * 1e6
    port = DEVICE.number("mte3.bytes_per_cycle") * DEVICE.clock_mhz
    few = copies_us(DEVICE, 0, megabytes, ports_of(DEVICE, True, False), 1)
    assert few == pytest.approx(megabytes / (2 * port))
    through_l0c = copies_us(DEVICE, 0, megabytes, ports_of(DEVICE, False, True), 1)
    assert through_l0c > few, "one port for the fixpipe, two of vector cores"


def test_a_core_reads_no_faster_than_it_can_ask() -> None:
    read = 1_000_000
    one = copies_us(DEVICE, read, 0, ports_of(DEVICE, True, False), 1)
    rate = read / one / DEVICE.clock_mhz / 2  # bytes a cycle of a vector core
    assert 60 < rate < 80 < DEVICE.number("mte2.bytes_per_cycle")


def test_what_is_read_again_is_no_part_of_the_floor() -> None:
    again = case({}, moved=400_000_000)
    once = again.model_copy(
        update={"pipes": again.pipes.model_copy(update={"first_read_bytes": 4_000_000})}
    )
    assert floor_of(once, DEVICE).us < floor_of(again, DEVICE).us / 20
    assert floor_of(once, DEVICE) == floor_of(case({}, moved=4_000_000), DEVICE)


def test_a_case_says_how_far_above_its_floor_it_is() -> None:
    assert "µs above the floor of 2.36 µs" in roofline(case({}), DEVICE).sentence()


STREAM = """
        for (uint32_t done = 0; done < this->count; done += CHUNK) {
            uint32_t length = this->count - done < CHUNK ? this->count - done : CHUNK;
            LocalTensor<float> loaded = queue.AllocTensor<float>();
            DataCopy(loaded, xGm[done], length);
            queue.EnQue(loaded);
            LocalTensor<float> stored = queue.DeQue<float>();
            DataCopy(yGm[done], stored, length);
            queue.FreeTensor(stored);
        }
    }

private:
    TQueBind<QuePosition::VECIN, QuePosition::VECOUT, 4> queue;
"""


@pytest.fixture(scope="module")
def streams() -> dict[int, Measurement]:
    """A plain copy of 4 Mi elements by number of vector cores, in every state."""
    operator = load_operator(OPERATORS / "src" / "conversion" / "chunk_copy")
    own = load_workload(operator)
    tensor = own.cases[0].inputs[0]
    assert isinstance(tensor, TensorCase)
    long = tensor.model_copy(update={"shape": (4096, 1024)})
    case = own.cases[0].model_copy(update={"inputs": (long,), "outputs": ()})
    workload = own.model_copy(update={"cases": (case,), "seeds": (1,)})
    settings = EvaluationSettings(ensemble=ensemble(ranges=False))
    judge = Evaluator(operator, workload, SimulatorBackend("910B4"), settings=settings)
    host, kernel = "op_host/chunk_copy.cpp", "op_kernel/chunk_copy.cpp"
    text = operator.read(kernel)
    first, last = text.index("        LocalTensor<float> xLocal"), text.index("private:\n")
    text = text[:first] + STREAM + text[last + len("private:\n") :]
    text = text.replace("pipe.InitBuffer(xBuf, CHUNK", "pipe.InitBuffer(queue, 4, CHUNK").replace(
        "        pipe.InitBuffer(yBuf, CHUNK * sizeof(float));\n", ""
    )
    found = {}
    for cores in (8, 40):
        counted = operator.read(host).replace("platform.GetCoreNumAiv()", f"{cores}")
        trial = judge.evaluate(Candidate(files={host: counted, kernel: text}), 1)
        assert trial.measurement is not None, trial.refusal
        found[cores] = trial.measurement
    return found


def test_a_plain_stream_lies_at_nine_tenths_of_its_floor_or_more_in_every_state(
    streams: dict[int, Measurement],
) -> None:
    for cores, measured in streams.items():
        (one,) = measured.cases
        for state, time in one.members_us.items():
            chip = launched_on(measured.fingerprint.model_copy(update={"state": state}))
            assert chip is not None
            touched = one.pipes.first_read_bytes or 0, one.pipes.first_written_bytes or 0
            share = floor_at(cores // 2, chip, *touched).us / time
            assert 0.9 < share < 1.005, (cores, state)


def test_a_plain_stream_has_nothing_left_to_win(streams: dict[int, Measurement]) -> None:
    for measured in streams.values():
        assert 1 <= (left_to_win(measured) or 0) < NEAR


def test_one_that_takes_longer_in_every_state_has(streams: dict[int, Measurement]) -> None:
    measured = streams[40]
    (one,) = measured.cases
    longer = one.model_copy(update={"members_us": {n: 1.2 * t for n, t in one.members_us.items()}})
    assert (left_to_win(measured.model_copy(update={"cases": (longer,)})) or 0) > 1.15
    cold = {n: t * (1.2 if n == "cold" else 1) for n, t in one.members_us.items()}
    only = one.model_copy(update={"members_us": cold})
    assert (left_to_win(measured.model_copy(update={"cases": (only,)})) or 0) < NEAR
