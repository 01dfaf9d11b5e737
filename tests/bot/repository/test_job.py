from bot.repository.job import KEY_DIGITS, job_key

ARGUMENTS = ("github", "a/b", "src/math/add", {"x.cpp": "1"}, {"target": "910B4"})


def test_equal_work_has_an_equal_key() -> None:
    assert job_key(*ARGUMENTS) == job_key(*ARGUMENTS)
    assert len(job_key(*ARGUMENTS)) == KEY_DIGITS


def test_everything_that_makes_other_work_changes_the_key() -> None:
    keys = {job_key(*ARGUMENTS)}
    others = [
        ("gitlab", *ARGUMENTS[1:]),
        ("github", "a/c", *ARGUMENTS[2:]),
        ("github", "a/b", "src/math/sub", *ARGUMENTS[3:]),
        (*ARGUMENTS[:3], {"x.cpp": "2"}, ARGUMENTS[4]),
        (*ARGUMENTS[:3], {"y.cpp": "1"}, ARGUMENTS[4]),
        (*ARGUMENTS[:4], {"target": "910B1"}),
        (*ARGUMENTS[:3], {"x.cpp": "1", "target": "910B4"}, {}),
    ]
    for other in others:
        keys.add(job_key(*other))
    assert len(keys) == len(others) + 1
