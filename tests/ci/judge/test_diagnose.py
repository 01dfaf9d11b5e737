from ci.judge.diagnose import diagnose
from ci.model.trial import CaseMeasurement, Fingerprint, Measurement, PipeTime
from rules.load import load_taxonomy

PRINT = Fingerprint(backend="sim", device="910B4", version="1", simulated=True)


def measured(*pipes: PipeTime) -> Measurement:
    cases = tuple(
        CaseMeasurement(
            case=f"case{i}", samples_us=(1.0,), median_us=1.0, low_us=1.0, high_us=1.0, pipes=p
        )
        for i, p in enumerate(pipes)
    )
    return Measurement(fingerprint=PRINT, cases=cases)


def pipes(total: int = 10000, block_dim: int = 40, **given: object) -> PipeTime:
    busy = {"VECTOR": 0.0, "MTE2": 0.0, "MTE3": 0.0, "SCALAR": 0.0}
    busy |= given.pop("busy", {})  # type: ignore[call-overload]
    fields = {"gm_read_bytes": 8 << 20, "gm_write_bytes": 8 << 20} | given
    return PipeTime.model_validate(
        {"total_cycles": total, "block_dim": block_dim, "busy_cycles": busy} | fields
    )


def first(p: PipeTime) -> str:
    return diagnose(measured(p)).classes[0]


def test_a_busy_copy_pipe_means_memory_bound() -> None:
    assert first(pipes(busy={"MTE2": 9000})) == "gm_bandwidth"


def test_a_busy_vector_unit_means_vector_bound() -> None:
    assert first(pipes(busy={"VECTOR": 9000, "MTE2": 2000})) == "vector_bound"


def test_a_busy_scalar_unit_means_scalar_bound() -> None:
    assert first(pipes(busy={"SCALAR": 8000})) == "scalar_bound"


def test_pipes_that_fill_the_time_one_after_another_do_not_overlap() -> None:
    assert first(pipes(busy={"VECTOR": 3000, "MTE2": 4000, "MTE3": 3000})) == "no_overlap"


def test_idle_pipes_and_little_data_mean_start_up() -> None:
    p = pipes(busy={"MTE2": 900}, gm_read_bytes=4096 * 40, gm_write_bytes=4096 * 40)
    assert first(p) == "launch_overhead"


def test_many_small_copies_are_named_with_their_size() -> None:
    p = pipes(busy={"MTE2": 5000}, instructions={"copy_gm_to_ubuf": 80000}, gm_write_bytes=0)
    found = diagnose(measured(p))
    assert "small_copies" in found.classes
    assert "a copy moves 105 bytes" in " ".join(found.evidence)


def test_one_core_with_much_data_is_too_few() -> None:
    assert first(pipes(block_dim=1, busy={"MTE2": 5900})) == "low_parallelism"


def test_bank_conflicts_and_imbalance_are_seen() -> None:
    p = pipes(busy={"VECTOR": 5000}, bank_conflict_cycles=2500.0, imbalance=1.5)
    assert {"bank_conflict", "tail_imbalance"} <= set(diagnose(measured(p)).classes)


def test_classes_of_all_cases_add_up() -> None:
    memory, vector = pipes(busy={"MTE2": 9000}), pipes(busy={"VECTOR": 9500})
    assert diagnose(measured(memory, memory, vector)).classes[0] == "gm_bandwidth"


def test_every_class_is_in_the_taxonomy_and_comes_with_evidence() -> None:
    p = pipes(
        busy={"VECTOR": 7000, "MTE2": 8000, "SCALAR": 3000},
        wait_cycles={"VECTOR<-MTE2": 4000.0},
        instructions={"vadd": 40000, "pipe_barrier": 40000, "copy_gm_to_ubuf_align_b16": 9000},
        ub_peak_bytes=1024,
    )
    found = diagnose(measured(p))
    assert set(found.classes) <= set(load_taxonomy())
    assert len(found.evidence) == len(found.classes) >= 5
    assert found.bottleneck[0].isupper()


def test_few_cores_are_a_share_of_those_of_the_device() -> None:
    of_smallest = measured(pipes(block_dim=8, busy={"MTE2": 5900}))
    printed = PRINT.model_copy(update={"device": "910B1"})
    of_largest = of_smallest.model_copy(update={"fingerprint": printed})
    assert "low_parallelism" not in diagnose(of_smallest).classes
    assert "low_parallelism" in diagnose(of_largest).classes
