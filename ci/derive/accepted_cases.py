"""The cases that a host tiling takes, in the order in which they are worth a launch."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import zip_longest
from math import prod

from ci.derive.candidates import GENERIC, TEST_OUTPUTS, Sourced, candidate_cases, other_attributes
from ci.derive.case_selection import Option
from ci.derive.case_sizes import halved
from ci.derive.guided import guided_cases
from ci.derive.host_queries import Asker, Taken
from ci.judge.varied.base import tensors
from ci.model.amount import amount
from ci.model.operator import Operator
from ci.model.workload import WorkloadCase

MOST_ALTERED = 16
"""Refused cases that are asked with other attributes."""

MOST_ELEMENTS = 1 << 22
"""Most elements of all tensors of a case together: an index may become a long row."""

SMALLER = "{}, made smaller"
"""Source of a case of the repository that is too large as it is."""

MOST_OWN_ELEMENTS = 1 << 26
"""The same of a case that the repository names, where nothing smaller is taken."""

_NO_TILING = "No tiling function is registered"
"""What the host program says whatever the case is."""

MOST_PLAIN = 10
"""Cases before attributes are changed."""


class NoWorkload(Exception):
    """There is none that the operator passes; the message says why, `stopped` in a few words.

    `faulty`: a case of the repository that fails by the operator's own fault.
    """

    def __init__(self, why: str, stopped: str, faulty: WorkloadCase | None = None) -> None:
        super().__init__(why)
        self.stopped = stopped
        self.faulty = faulty


def taken_cases(
    operator: Operator,
    asker: Asker,
    watched: Callable[[], Asker | None],
    given: Sequence[WorkloadCase] = (),
) -> list[Option]:
    """The given cases and the candidates that the tiling takes; raises NoWorkload for none.

    Where it takes none of the likely ones, the comparisons of the tiling as it is built to be
    `watched` lead to others.
    """
    sourced: list[Sourced] = [("workload", case) for case in given]
    sourced += candidate_cases(asker.told(operator))
    found = [
        replace(option, asked_for=option.source != GENERIC) for option in answered(asker, sourced)
    ]
    if not found and _NO_TILING in (words := asker.words(sourced[0][1])):
        raise NoWorkload(words, "no tiling is registered")
    if all(option.source == GENERIC for option in found):
        smaller = list(_smaller(asker, sourced))
        own = [one for one in sourced if one[0] != GENERIC]
        found = (answered(asker, smaller) or answered(asker, own, most=MOST_OWN_ELEMENTS)) + found
        sourced += smaller
    if all(option.source == GENERIC for option in found):
        # An attribute may be what it refuses.
        likely = [s for s in sourced if s[0] != GENERIC or not found][:MOST_ALTERED]
        altered = [
            (source, other) for source, case in likely for other in other_attributes(operator, case)
        ]
        found = answered(asker, altered) + found
        sourced += altered
    if not found and (led := watched()) is not None:
        more = guided_cases(asker.told(operator), led, sourced[:MOST_ALTERED])
        found = answered(asker, more)
        sourced += more
    if not found:
        raise NoWorkload(
            f"Its host tiling takes none of the {amount(len(sourced), 'case')} that were asked;"
            f" of the first it says: {_ended(asker.words(sourced[0][1]))} Shapes that it takes"
            " go into a workload.yaml next to op_host (docs/workloads.md has the fields).",
            "the tiling takes no case",
        )
    return that_differ(found)


def _smaller(asker: Asker, sourced: Sequence[Sourced]) -> Iterator[Sourced]:
    """Cases of the repository that the tiling takes and that are too large, made smaller."""
    own = [(source, case) for source, case in sourced if source != GENERIC]
    for (source, _), answer in zip(own, asker.ask([case for _, case in own]), strict=True):
        if isinstance(answer, Taken) and all_elements(answer.case) > MOST_ELEMENTS:
            yield from ((SMALLER.format(source), case) for case in halved(answer.asked))


def _ended(words: str) -> str:
    return words if words.endswith(".") else f"{words}."


def that_differ(options: Sequence[Option]) -> list[Option]:
    """Drop those whose outputs a test names as inference gives them for the same inputs."""
    told = [o.taken.case for o in options if o.source != TEST_OUTPUTS]
    known = {repr((case.inputs, case.outputs)) for case in told}
    return [
        option
        for option in options
        if option.source != TEST_OUTPUTS
        or repr((option.taken.case.inputs, option.taken.case.outputs)) not in known
    ]


def answered(asker: Asker, sourced: Sequence[Sourced], most: int = MOST_ELEMENTS) -> list[Option]:
    """Return those that the tiling takes and whose tensors have `most` elements at most."""
    answers = asker.ask([case for _, case in sourced])
    return [
        Option(source, answer)
        for (source, _), answer in zip(sourced, answers, strict=True)
        if isinstance(answer, Taken) and all_elements(answer.case) <= most
    ]


def likeliest(operator: Operator, asker: Asker, taken: Sequence[Option]) -> Iterator[Option]:
    """One of each kind in turn, then the first ones with other attributes: what a tiling takes
    need not be what the kernel can do."""
    turns = list(in_turns_of_kinds(taken))
    yield from turns[:MOST_PLAIN]
    altered = [
        (option.source, other)
        for option in turns[:3]
        for other in other_attributes(operator, option.taken.asked)
    ]
    yield from answered(asker, altered)
    yield from turns[MOST_PLAIN:]


def in_turns_of_kinds(options: Sequence[Option]) -> Iterator[Option]:
    """One option of each kind after the other: what fails for one shape fails for the next alike.

    Of a kind are those from one source whose inputs' shapes are related alike.
    """
    kinds: dict[object, list[Option]] = {}
    for option in options:
        kinds.setdefault((option.source, _relation(option.shapes)), []).append(option)
    for row in zip_longest(*kinds.values()):
        yield from (option for option in row if option is not None)


def _relation(shapes: Sequence[tuple[int, ...]]) -> tuple[tuple[int, ...], ...]:
    """Each shape with its lengths as places among all lengths in order of their appearance."""
    lengths = list(dict.fromkeys(length for shape in shapes for length in shape))
    return tuple(tuple(lengths.index(length) for length in shape) for shape in shapes)


def all_elements(case: WorkloadCase) -> int:
    """Elements of all inputs and declared outputs together."""
    return sum(prod(t.shape) for t in tensors(case) if t.present)
