from ci.judge.causes import cause
from ci.model.trial import PipeTime
from tests.ci.judge.test_diagnose import measured


def pipes(total: int, copies: int = 0, block_dim: int = 8, **busy: float) -> PipeTime:
    return PipeTime(
        total_cycles=total,
        block_dim=block_dim,
        busy_cycles=busy,
        instructions={"copy_gm_to_ubuf_align_b16": copies, "copy_ubuf_to_gm": copies, "vmuls": 9},
        gm_read_bytes=1 << 20,
        gm_write_bytes=1 << 20,
    )


OVER = "Sums over all cases, for this change alone."


def test_fewer_copies_are_counted_with_their_size_and_what_they_save() -> None:
    before = measured(pipes(9000, 256, MTE2=5000), pipes(9000, 256, MTE2=4000.4))
    after = measured(pipes(6000, 64, MTE2=2000), pipes(5000, 64, MTE2=1000))
    assert cause(before, after) == (
        "256 copies of 16 KiB on average instead of 1,024 of 4 KiB; MTE2 works for 3,000 instead"
        f" of 9,000 cycles a core. {OVER}"
    )


def test_only_what_fell_by_a_part_of_the_gain_is_named_the_most_first() -> None:
    before = measured(pipes(9000, 64, SCALAR=400, MTE3=3000, VECTOR=5000))
    after = measured(pipes(6000, 64, SCALAR=200, MTE3=2500, VECTOR=3000))
    assert cause(before, after) == (
        "VECTOR works for 3,000 instead of 5,000 cycles a core; MTE3 works for 2,500 instead of"
        f" 3,000 cycles a core. {OVER}"
    )


def test_a_wait_is_named_where_no_pipe_does_less() -> None:
    one, other = pipes(9000, 64, MTE2=3000), pipes(7000, 128, MTE2=3500)
    waiting = one.model_copy(update={"wait_cycles": {"VECTOR<-MTE2": 4000.0, "MTE3<-VECTOR": 9.0}})
    less = other.model_copy(update={"wait_cycles": {"VECTOR<-MTE2": 1500.0}})
    said = "VECTOR waits for MTE2 for 1,500 instead of 4,000 cycles a core."
    assert cause(measured(waiting), measured(less)) == f"{said} {OVER}"


def test_other_numbers_of_cores_come_first() -> None:
    before = measured(pipes(9000, 64, block_dim=40, SCALAR=3000), pipes(9000, 64, block_dim=40))
    after = measured(pipes(5000, 64, SCALAR=2000), pipes(9000, 64, block_dim=40))
    said = cause(before, after)
    assert said.startswith("A launch starts 8 to 40 instead of 40 cores; SCALAR works")


def test_a_slower_program_and_an_unlike_profile_give_no_cause() -> None:
    one, other = measured(pipes(9000, 64, MTE2=5000)), measured(pipes(6000, 64, MTE2=5000))
    assert cause(other, one) == ""
    assert cause(one, other) == ""
