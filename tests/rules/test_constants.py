from ci.model.ensemble import Ensemble, is_joint
from ci.simulator.ensemble import members_of
from rules.constants import constant_words, in_words
from rules.devices import device_names, load_device


def test_every_constant_that_is_moved_is_told_in_words() -> None:
    for name in device_names():
        for member in members_of(load_device(name), Ensemble(ranges=True)):
            assert member == "cold" or is_joint(member) or in_words(member) != member


def test_a_value_stands_in_its_words_and_a_condition_stays() -> None:
    assert in_words("launch.us_per_core = 0.4221") == "launch on each further core takes 0.4221 µs"
    assert in_words("vector.*.cycles x 1.1") == "vector instructions take 1.1 times as long"
    assert in_words("warm") == "warm"


def test_no_words_are_kept_for_what_is_never_moved() -> None:
    ranges = {name for device in device_names() for name in load_device(device).ranges}
    assert set(constant_words()) <= ranges
