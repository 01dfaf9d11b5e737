"""An evaluator whose work is done by a pool's workers: candidates go out, trials come back.

Operator, workload and settings travel with each question, so that any worker can answer it; a
worker keeps what it read and built of them. What comes back is validated like a file of a stranger.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Collection
from concurrent.futures import Future
from pathlib import Path
from typing import Final, Literal, TypeAlias

from pydantic import JsonValue, TypeAdapter

from ci.backend import make_backend
from ci.backend.base import Backend
from ci.backend.pool.base import Question
from ci.backend.pool.dispatch import Dispatcher, Quarantined
from ci.judge.base import Judge
from ci.judge.evaluate import Evaluator
from ci.judge.gate_subject import EvaluationSettings
from ci.model.ensemble import Condition
from ci.model.errors import EnvironmentProblem, TrialFailure
from ci.model.frozen import Frozen
from ci.model.operator import Operator
from ci.model.result import Verification
from ci.model.trial import Candidate, Fingerprint, Outcome, Refusal, Trial
from ci.model.workload import Workload
from ci.source.discovery import load_operator
from ci.source.golden import golden_function

MOST_EVALUATORS: Final = 4
"""Operators that a worker keeps ready, with their inputs and right outputs."""

_HANDLER: Final = "ci.judge.pool_evaluator:answer"

Call: TypeAlias = Literal["load", "program", "evaluate", "both", "admit", "confirm", "members"]
"""Methods of an evaluator; `both` is `program` and `evaluate`."""


class BackendChoice(Frozen):
    """What a worker makes its backend with, as `ci.backend.make_backend` takes it."""

    backend: str
    device: str
    asc_headers: str = ""
    state: Condition = "cold"

    def made(self) -> Backend:
        """The backend; raises as `make_backend` does."""
        return make_backend(
            self.backend, self.device, asc_headers=self.asc_headers, state=self.state
        )


class Place(Frozen):
    """A folder below one of those that the question names."""

    folder: str
    below: str

    def on(self, folders: dict[str, Path]) -> Path:
        """The folder on this host."""
        return folders[self.folder] / self.below


class Judged(Frozen):
    """What candidates are judged on, without a path of any host."""

    operator: Place
    workload: Workload
    """The workload; its `golden` is the name of a file, its folder has no meaning."""
    beside: Place
    """The folder of the golden, or of the workload."""
    backend: BackendChoice
    settings: EvaluationSettings


class _Asked(Frozen):
    """One call of an evaluator's method."""

    judged: Judged
    call: Call
    candidate: Candidate = Candidate()
    trials: tuple[Trial, ...] = ()
    """Trials that `admit` and `confirm` take."""
    without: tuple[str, ...] = ()


class _Said(Frozen):
    """What it returned, or the failure that it raised."""

    text: JsonValue = None
    outcome: Outcome | None = None
    refusal: Refusal | None = None


_BOTH: TypeAdapter[tuple[str, Trial]] = TypeAdapter(tuple[str, Trial])
_MEMBERS: TypeAdapter[dict[str, dict[str, float]]] = TypeAdapter(dict[str, dict[str, float]])


class PooledEvaluator(Judge):
    """Judges candidates of one operator as `Evaluator` does, at the seats of a pool."""

    handler = _HANDLER
    """What a worker calls with a question; another one must answer as `answer` does."""

    def __init__(
        self,
        operator: Operator,
        workload: Workload,
        backend: BackendChoice,
        pool: Dispatcher,
        *,
        settings: EvaluationSettings | None = None,
    ) -> None:
        """Nothing is asked yet. Raises InputError for a golden that is not there."""
        self.operator = operator
        self.workload = workload
        self._pool = pool
        self._folders, operator_place, beside, sent = _places(operator, workload)
        self._judged = Judged(
            operator=operator_place,
            workload=sent,
            beside=beside,
            backend=backend,
            settings=settings or EvaluationSettings(),
        )
        self._ahead: dict[str, Future[JsonValue]] = {}
        self._fingerprint: Fingerprint | None = None

    def load(self) -> None:
        """Read the operator and its golden at a worker, so that what is wrong is said at once."""
        self._fingerprint = Fingerprint.model_validate(self._ask(self._asked("load")))

    def fingerprint(self) -> Fingerprint:
        """Which device and versions the workers have."""
        if self._fingerprint is None:
            self.load()
        assert self._fingerprint is not None
        return self._fingerprint

    def program(self, candidate: Candidate) -> str:
        """Answer as the wrapped evaluator. '' for one that no worker survives: its evaluation says
        so."""
        begun = self._ahead.get(candidate.hash)
        try:
            if begun is not None:
                return _BOTH.validate_python(self._opened(begun.result()))[0]
            return str(self._ask(self._asked("program", candidate)))
        except Quarantined:
            return ""

    def evaluate(self, candidate: Candidate, number: int, *, profile: bool = False) -> Trial:
        """Answer as the wrapped evaluator. One that no worker survives ends as a launch error."""
        if profile:
            raise ValueError("a profile stays on the host that measures it")
        begun = self._ahead.pop(candidate.hash, None)
        try:
            if begun is not None:
                trial = _BOTH.validate_python(self._opened(begun.result()))[1]
            else:
                trial = Trial.model_validate(self._ask(self._asked("evaluate", candidate)))
        except Quarantined as lost:
            trial = Trial(
                number=number,
                candidate=candidate,
                outcome=Outcome.LAUNCH_ERROR,
                refusal=Refusal(sentence=str(lost)),
            )
        self._check_machine(trial)
        return trial.model_copy(update={"number": number, "candidate": candidate})

    def admit(
        self, trial: Trial, parent: Trial, baseline: Trial, *, without: Collection[str] = ()
    ) -> Trial:
        """Answer as the wrapped evaluator."""
        asked = self._asked("admit", trial.candidate, (trial, parent, baseline), tuple(without))
        try:
            return Trial.model_validate(self._ask(asked))
        except Quarantined as lost:
            refusal = Refusal(sentence=str(lost))
            return trial.model_copy(update={"outcome": Outcome.UNFIT, "refusal": refusal})

    def confirm(self, trial: Trial) -> Verification:
        """Answer as the wrapped evaluator."""
        try:
            said = self._ask(self._asked("confirm", trial.candidate, (trial,)))
        except Quarantined as lost:
            raise TrialFailure(Outcome.LAUNCH_ERROR, Refusal(sentence=str(lost))) from lost
        return Verification.model_validate(said)

    def members_us(self, candidate: Candidate) -> dict[str, dict[str, float]]:
        """Answer as the wrapped evaluator."""
        try:
            return _MEMBERS.validate_python(self._ask(self._asked("members", candidate)))
        except Quarantined as lost:
            raise TrialFailure(Outcome.LAUNCH_ERROR, Refusal(sentence=str(lost))) from lost

    @property
    def size(self) -> int:
        """Workers that can be at work at a time."""
        return self._pool.size

    @property
    def begun(self) -> int:
        """Candidates that were begun and not asked for, and are not done."""
        return sum(not one.done() for one in self._ahead.values())

    def begin(self, candidate: Candidate) -> None:
        """Have a candidate evaluated that will probably be asked for, while others are."""
        if candidate.hash not in self._ahead:
            question = self._question(self._asked("both", candidate))
            self._ahead[candidate.hash] = self._pool.ahead(question)

    def _asked(
        self,
        call: Call,
        candidate: Candidate | None = None,
        trials: tuple[Trial, ...] = (),
        without: tuple[str, ...] = (),
    ) -> _Asked:
        return _Asked(
            judged=self._judged,
            call=call,
            candidate=candidate or Candidate(),
            trials=trials,
            without=without,
        )

    def _question(self, asked: _Asked) -> Question:
        return Question(
            handler=self.handler, text=asked.model_dump(mode="json"), folders=self._folders
        )

    def _ask(self, asked: _Asked) -> JsonValue:
        return self._opened(self._pool.ask(self._question(asked)))

    @staticmethod
    def _opened(text: JsonValue) -> JsonValue:
        said = _Said.model_validate(text)
        if said.outcome is not None:
            raise TrialFailure(said.outcome, said.refusal or Refusal(sentence="no reason given"))
        return said.text

    def _check_machine(self, trial: Trial) -> None:
        """Times of workers with other compilers or chips are not held against each other."""
        if trial.measurement is None:
            return
        found, first = trial.measurement.fingerprint, self.fingerprint()
        if found != first:
            raise EnvironmentProblem(
                f"A worker measured with {found.device} {found.version}, another one with"
                f" {first.device} {first.version}: all hosts of a pool need the same compiler and"
                " the same devices."
            )


def _places(
    operator: Operator, workload: Workload
) -> tuple[dict[str, Path], Place, Place, Workload]:
    """The folders to send, the operator's and the golden's place in them, and the workload."""
    root = operator.root.resolve()
    top = (operator.repository or root).resolve()
    folders = {"repository": top}
    file = golden_function(workload)[0] if workload.golden else None
    beside = (file.parent if file is not None else workload.folder).resolve()
    golden = "" if file is None else f"{file.name}:{workload.golden.rpartition(':')[2]}"
    if beside.is_relative_to(top):
        place = Place(folder="repository", below=beside.relative_to(top).as_posix())
    else:
        # Next to it lie the workloads of operators that share sources.
        outer = beside.parent if operator.shared_sources else beside
        folders["workload"] = outer
        place = Place(folder="workload", below=beside.relative_to(outer).as_posix())
    sent = workload.model_copy(update={"golden": golden, "folder": Path()})
    root = operator.place.resolve()
    return folders, Place(folder="repository", below=root.relative_to(top).as_posix()), place, sent


_evaluators: OrderedDict[str, Evaluator] = OrderedDict()


def answer(text: JsonValue, folders: dict[str, Path]) -> JsonValue:
    """Make the call at a worker and return its answer. Raises what is wrong with this host."""
    asked = _Asked.model_validate(text)
    evaluator = _evaluator(asked.judged, folders)
    try:
        said = _Said(text=_called(evaluator, asked))
    except TrialFailure as failure:
        said = _Said(outcome=failure.outcome, refusal=failure.refusal)
    evaluator.backend.check_fit()  # what failed on a broken device is no answer
    return said.model_dump(mode="json")


def _evaluator(judged: Judged, folders: dict[str, Path]) -> Evaluator:
    key = f"{judged.model_dump_json()} {sorted(folders.items())}"
    if key not in _evaluators:
        operator = load_operator(judged.operator.on(folders))
        workload = judged.workload.model_copy(update={"folder": judged.beside.on(folders)})
        chosen = judged.backend
        backend = chosen.made()
        made = Evaluator(operator, workload, backend, settings=judged.settings)
        made.references.load()
        if backend.scatters:
            made.evaluate(Candidate(), 0)  # each device has a noise of its own to be learnt
        while len(_evaluators) >= MOST_EVALUATORS:
            _evaluators.popitem(last=False)
        _evaluators[key] = made
    _evaluators.move_to_end(key)
    return _evaluators[key]


def _called(evaluator: Evaluator, asked: _Asked) -> JsonValue:
    candidate, trials = asked.candidate, asked.trials
    match asked.call:
        case "load":
            return evaluator.fingerprint().model_dump(mode="json")
        case "program":
            return evaluator.program(candidate)
        case "evaluate":
            return evaluator.evaluate(candidate, 0).model_dump(mode="json")
        case "both":
            said = evaluator.evaluate(candidate, 0).model_dump(mode="json")
            return [evaluator.program(candidate), said]
        case "admit":
            trial, parent, baseline = trials
            admitted = evaluator.admit(trial, parent, baseline, without=asked.without)
            return admitted.model_dump(mode="json")
        case "confirm":
            return evaluator.confirm(trials[0]).model_dump(mode="json")
        case "members":
            return _MEMBERS.dump_python(evaluator.members_us(candidate), mode="json")  # type: ignore[no-any-return]
