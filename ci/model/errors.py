"""Errors, as sentences for the person who can fix them."""

from __future__ import annotations

from pydantic import ValidationError

from ci.model.trial import MachineWarning, Outcome, Refusal


class InputError(Exception):
    """The user gave something that cannot be worked with; the command line exits with code 2.

    The message is one sentence: what was wrong, where, and what to do.
    """


class EnvironmentProblem(Exception):
    """This machine lacks something (compiler, sandbox, toolkit); says which command fixes it."""


class ModelUnavailable(Exception):
    """A language model can answer no more: out of budget, or out of reach after all retries.

    The message is one sentence. Who asked ends cleanly and keeps what was found until then.
    """


class TrialFailure(Exception):
    """A candidate failed with a named outcome; raised inside the evaluator, stored as a `Trial`."""

    def __init__(
        self, outcome: Outcome, refusal: Refusal, warnings: tuple[MachineWarning, ...] = ()
    ) -> None:
        super().__init__(f"{outcome.value}: {refusal.message}")
        self.outcome = outcome
        self.refusal = refusal
        self.warnings = warnings
        """What else the launch showed before it ended."""


class CaseDeclined(TrialFailure):
    """The host side said that it does not take a case. It is not made for it."""


class CaseTooLarge(TrialFailure):
    """A launch of a case needs more memory than a launch has here. It says nothing of the code."""


def plainly(problem: BaseException) -> str:
    """What went wrong, as the end of a sentence that has named the file: no number of an error."""
    if isinstance(problem, UnicodeDecodeError):
        return "it is not UTF-8 text"
    return (isinstance(problem, OSError) and problem.strerror) or str(problem)


def in_case(failure: TrialFailure, case: str, seed: int) -> TrialFailure:
    """The failure with the case and seed that showed it, when they matter."""
    if failure.outcome in (Outcome.COMPILE_ERROR, Outcome.REJECTED):
        return failure
    place = failure.refusal.place.model_copy(update={"case": case, "seed": seed})
    refusal = failure.refusal.model_copy(update={"place": place})
    return type(failure)(failure.outcome, refusal, failure.warnings)


def first_fault(problem: ValidationError) -> tuple[str, str]:
    """Place (`cases.0.name`) and message of the first thing that pydantic found, without the value:
    that may be a secret."""
    first = problem.errors(include_input=False)[0]
    return ".".join(str(part) for part in first["loc"]), first["msg"].removeprefix("Value error, ")


def worded(problem: ValidationError) -> str:
    """`first_fault` in one piece: `cases.0.name: Field required`."""
    return ": ".join(filter(None, first_fault(problem)))
