"""Has a model write the tile program of a golden function that cannot be traced.

What it writes is data: read by our own parser, run in numpy against the golden function, lowered
and judged as a traced one. Each refusal is a sentence that the model is shown.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Final

from ci.create.operator_files import Made
from ci.create.program_files import given_of, made_of_text
from ci.create.task import Task
from ci.create.verify import NotRight, WrongProgram
from ci.model.created import Created, CreateSettings
from ci.model.errors import InputError, ModelUnavailable
from ci.proposer.base import RunContext
from ci.proposer.llm.answer import fenced_text
from ci.proposer.llm.call_log import read_calls
from ci.proposer.llm.caller import Caller
from ci.proposer.llm.chat import Reply
from ci.proposer.llm.prompts import messages, repair
from ci.proposer.llm.recording import Recording
from ci.proposer.llm.settings import CREATION, Models, ModelSettings, load_models
from ci.proposer.replay import NOWHERE

ROUNDS: Final = 6
"""Programs that a model may write for one golden function."""

REPLAY: Final = "replay:"
SHOWN: Final = 40_000
"""Characters of a golden's file that a model is shown."""


def write_operator(
    task: Task,
    refused: str,
    settings: CreateSettings,
    attempt: Callable[[Made, str], Created],
    say: Callable[[str], None],
) -> Created:
    """The operator of the first program that `attempt` finds right.

    `refused` says why the function was not traced. Calls are kept in FOLDER.calls.sqlite, so that
    making it again asks for nothing twice. Raises InputError when no program was right.
    """
    given = given_of(task)
    models, recorded = _models(settings)
    model = models.of(CREATION)
    assert model is not None
    calls = settings.out.with_name(f"{settings.out.name}.calls.sqlite")
    calls.parent.mkdir(parents=True, exist_ok=True)
    budget = settings.grant()
    caller = Caller(models, RunContext(calls, budget, upcoming=lambda: 0), replayed=recorded)
    said = messages(
        CREATION,
        settings.device,
        refused=refused,
        function=task.function,
        golden=task.own_text[:SHOWN],
        inputs=[f"{n}: {d}" for n, d in given.inputs.items()],
        attributes=list(given.attributes),
        cases=[_case(task, place) for place in range(len(task.cases))],
    )
    mistake = ""
    try:
        for number in range(1, ROUNDS + 1):
            say(f"Asking {model.model} for the tile program ({number} of at most {ROUNDS}).")
            call, reply = caller.ask(CREATION, said, repair=number > 1)
            found = _tried(task, reply, model.model, attempt)
            if isinstance(found, Created):
                caller.calls.judge(call, "accepted")
                used = {"tokens": budget.use().tokens, "cost": budget.use().money}
                return found.model_copy(update=used)
            mistake = found
            say(f"Refused: {mistake}")
            caller.calls.judge(call, mistake)
            said = (*said, *repair(reply.text[:SHOWN], mistake))
    except ModelUnavailable as problem:
        raise InputError(f"{problem} The calls so far are kept in {calls}.") from None
    finally:
        caller.calls.close()
    raise InputError(
        f"None of the {ROUNDS} programs that {model.model} wrote of {task.function} was right; of"
        f" the last: {mistake} Delete {calls} to ask again."
    )


def _tried(
    task: Task, reply: Reply, model: str, attempt: Callable[[Made, str], Created]
) -> Created | str:
    """The operator of an answer, or what is wrong with its program."""
    if reply.finish != "stop":
        return "The answer was cut off at the longest that is allowed, or refused."
    try:
        made = made_of_text(task, fenced_text(reply.text))
    except InputError as problem:
        return str(problem)
    try:
        return attempt(made, model)
    except (NotRight, WrongProgram) as problem:
        return str(problem)


def _models(settings: CreateSettings) -> tuple[Models, Recording | None]:
    """Who is asked, and the answers that are taken instead of asking."""
    if settings.proposer.startswith(REPLAY):
        path = Path(settings.proposer.removeprefix(REPLAY))
        if not path.is_file():
            raise InputError(f"There are no recorded calls at {path}.")
        known = [c for c in read_calls(path) if c.role == CREATION]
        if not known:
            raise InputError(f"{path} holds no answer of the role {CREATION}.")
        one = ModelSettings(model=known[0].model, endpoint=NOWHERE, key="ASCENDOPT_NO_KEY")
        return Models(models={"recorded": one}, roles={CREATION: "recorded"}), Recording(known)
    models = load_models(settings.models)
    if models.of(CREATION) is None:
        raise InputError(
            f"--proposer llm needs a model for the role {CREATION}: give --models FILE, or set"
            " ASCENDOPT_LLM_MODEL and ASCENDOPT_LLM_ENDPOINT (docs/language-models.md)."
        )
    chosen = models.models[models.roles[CREATION]]
    return Models(models={"model": chosen}, roles={CREATION: "model"}), None


def _case(task: Task, place: int) -> str:
    case = task.cases[place]
    tensors = [
        f"{n}: {d}{list(s)}" for n, d, s in zip(task.inputs, case.dtypes, case.shapes, strict=True)
    ]
    given = [f"{k} = {v!r}" for k, v in case.attrs.items()]
    return f"{case.name}: {', '.join([*tensors, *given])}"
