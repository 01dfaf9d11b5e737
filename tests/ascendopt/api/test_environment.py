"""The environment rewards the gain that holds in every state, and nothing for what is refused."""

from __future__ import annotations

from math import log

import pytest

import ascendopt
from tests.ascendopt.api.test_operator import HOST, KERNEL, OPERATOR, larger_tiles


@pytest.fixture(scope="module")
def environment() -> ascendopt.Environment:
    return ascendopt.env(OPERATOR, steps=2)


def with_kernel(old: str, new: str) -> dict[str, str]:
    text = ascendopt.load(OPERATOR).sources[KERNEL]
    assert old in text
    return {KERNEL: text.replace(old, new)}


def test_an_episode_begins_with_the_sources_and_their_profile(
    environment: ascendopt.Environment,
) -> None:
    observation, info = environment.reset(seed=1)
    assert set(observation["sources"]) == {HOST, KERNEL}
    assert observation["profile"]["score_us"] > 0
    assert observation["profile"]["bottleneck"]
    assert not info["refused"]


@pytest.mark.long
def test_a_faster_program_earns_the_logarithm_of_its_least_gain(
    environment: ascendopt.Environment,
) -> None:
    environment.reset()
    action = larger_tiles(ascendopt.load(OPERATOR))
    observation, reward, terminated, truncated, info = environment.step(action)
    assert len(info["states"]) == 5
    assert reward == log(min(info["states"].values())) > 0
    assert observation["sources"][HOST] == action[HOST]
    assert not terminated
    assert not truncated
    again = environment.step(action)
    assert (again[1], again[3]) == (reward, True)


def test_what_is_refused_earns_nothing_and_says_why(environment: ascendopt.Environment) -> None:
    unknown = {"op_kernel/other.cpp": ""}
    steps = environment.evaluate_batch([with_kernel("Process();", "Proces();"), unknown])
    assert [step[1] for step in steps] == [0.0, 0.0]
    assert [step[4]["refused"] for step in steps] == [True, True]
    assert steps[0][4]["outcome"] == "compile_error"
    assert "is no source of affine_clamp" in steps[1][4]["reason"]


def test_an_episode_has_at_least_one_step_and_a_pool_is_known() -> None:
    with pytest.raises(ascendopt.InputError, match="at least one step, not 0"):
        ascendopt.env(OPERATOR, steps=0)
    with pytest.raises(ascendopt.InputError, match="no pool 'local:many'"):
        ascendopt.env(OPERATOR, pool="local:many")


@pytest.mark.long
def test_a_faster_program_made_for_the_workload_alone_earns_nothing() -> None:
    """Its attributes are those of the cases, by their dtypes; a pool judges as this process."""
    tiles = larger_tiles(ascendopt.load(OPERATOR))
    baked = "this->alpha = static_cast<DTYPE_X>(sizeof(DTYPE_X) == 2 ? 1.5f : 0.5f);"
    cheat = tiles | with_kernel("this->alpha = static_cast<DTYPE_X>(tiling.alpha);", baked)
    environment = ascendopt.env(OPERATOR, pool="local:2")
    (_, honest, _, _, _), (_, reward, _, _, info) = environment.evaluate_batch([tiles, cheat])
    environment.close()
    assert honest > 0
    assert reward == 0
    assert info["outcome"] == "unfit"
    assert info["gate"]
    assert info["reason"]
