"""The host side of an operator as a program: how to ask it, and to read its answers.

The program is the operator's own host sources, compiled against the headers in `host/` and linked
with the runtime there. `describe` tells definitions and tiling layouts, `tile` runs inference,
tiling parse and tiling for one case. `cpp/README.md` has the formats.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import closing, suppress
from pathlib import Path
from typing import Any, Literal, TypeVar

from pydantic import Field, ValidationError

from ci.host.host_room import HostRoom, HostRooms
from ci.host.survey import HostAnswer, Inference, Question, Tiling
from ci.host.tiling_layout import TilingStruct
from ci.host.tiling_request import HostRequest, host_request
from ci.model.amount import amount
from ci.model.dtypes import BY_NAME, DType
from ci.model.errors import CaseDeclined, TrialFailure, worded
from ci.model.frozen import Frozen
from ci.model.launch import Tensors
from ci.model.operator import Operator
from ci.model.trial import MachineWarning, Outcome, Place, Refusal
from ci.model.workload import WorkloadCase

T = TypeVar("T", Inference, Tiling)

ANSWER_BYTES = 32 << 20
"""Answer bytes of the largest answer that is read."""

PROCESSES = 64
"""Further processes that answer the questions of the workload: what depends on an address in one
case of seven is missed once in 20,000 times."""


MOST_WARNINGS = 20
"""Narrowed numbers and odd questions that are read of an answer, of each."""

MOST_ASKED = 100
"""Lines that ask for attributes and tensors that are read of an answer."""

ODD = ("attribute_type", "beyond_rank", "block_dim", "whole_ratio")
"""Kinds of odd questions; see `host::note_odd`."""

_CRASH = re.compile(r"^crash((?: 0x[0-9a-f]{1,12}){1,65})(?: without (\d{1,3}))?$", re.MULTILINE)


class Asked(Frozen):
    """A line of the host side that asks for something."""

    what: Literal["attribute", "tensor"]
    number: int = Field(description="Counted from 0; each tensor of a list counts.")
    place: Place


class TilingAnswer(Frozen):
    """What the host tiling decided for one case."""

    block_dim: int = Field(ge=1)
    tiling_key: int = Field(ge=0)
    template_arguments: tuple[tuple[str, int], ...] | None = Field(
        default=None, description="Kind and value of each that a template tiling key stands for."
    )
    template_selected: bool = Field(
        default=True, description="Whether ASCENDC_TPL_SEL lists them, where anything does."
    )
    data: bytes = Field(description="The raw tiling data, as the kernel gets it.")
    workspace: tuple[int, ...] = Field(default=(), description="Sizes in bytes.")
    schedule_mode: int = 0
    outputs: tuple[tuple[tuple[str, tuple[int, ...]], ...], ...] = Field(
        default=(), description="Inferred (dtype, shape) of each tensor of each output."
    )
    log: tuple[str, ...] = ()
    warnings: tuple[MachineWarning, ...] = Field(
        default=(), description="Numbers that did not fit their field, and odd questions."
    )
    asked: tuple[Asked, ...] = Field(
        default=(), description="Where it asked for attributes, and shapes or values of tensors."
    )


class HostCrash(TrialFailure):
    """A signal ended the host program."""

    def __init__(self, refusal: Refusal, frames: tuple[str, ...], without: int | None) -> None:
        super().__init__(Outcome.LAUNCH_ERROR, refusal)
        self.frames = frames
        """Offsets in the program from the innermost frame on, hexadecimal."""
        self.without = without
        """The input whose values it used though it may not read them, by the definition's order."""


class OpDescription(Frozen):
    """What the built host program says of itself."""

    op_type: str
    tilings: tuple[tuple[str, TilingStruct], ...] = Field(
        default=(), description="(registered name, struct), in order of registration."
    )
    dtypes: dict[str, tuple[str, ...]] = Field(
        default_factory=dict, description="Dtype columns by 'input <name>' and 'output <name>'."
    )
    columns: dict[str, tuple[int, int]] = Field(
        default_factory=dict,
        description="Lengths of the lists of dtypes and formats that belong together column by"
        " column, by the same names; 0 where there is none.",
    )
    value_inputs: tuple[str, ...] = Field(
        default=(), description="Inputs whose values the tiling or inference reads."
    )
    init_values: dict[str, float] = Field(
        default_factory=dict, description="Outputs that are filled before the launch, by name."
    )

    def struct_for(self, tiling_key: int) -> TilingStruct | None:
        """The struct registered for a tiling key (`Foo_<key>`), else the op type's own."""
        by_name = dict(self.tilings)
        own = by_name.get(f"{self.op_type}_{tiling_key}") or by_name.get(self.op_type)
        return own or (self.tilings[0][1] if len(self.tilings) == 1 else None)


class HostProgram:
    """The built program at `path`. Answers come from untrusted code and are checked as data."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._rooms = HostRooms()
        self._answers: dict[str, TilingAnswer] = {}

    def use(self, rooms: HostRooms) -> None:
        """Ask in these rooms, as far as they go; their maker closes what is left of them."""
        self._rooms = rooms

    def describe(self, operator: Operator, chip: str) -> OpDescription:
        """Definitions and tiling layouts. Raises TrialFailure(LAUNCH_ERROR).

        `chip` is the word by which a definition configures the chip family apart.
        """
        answer = self._ask("describe")
        try:
            return _description(answer, operator, chip)
        except (KeyError, TypeError, ValueError, ValidationError) as problem:
            raise _failure("The host program gave a malformed description.", str(problem)) from None

    def tile(
        self,
        operator: Operator,
        case: WorkloadCase,
        facts: Mapping[str, str],
        inputs: Tensors | None = None,
        outputs: Tensors | None = None,
        *,
        read: Collection[str] = (),
        anew: bool = False,
        filling: int = 0,
    ) -> TilingAnswer:
        """Run the tiling for `case` on the chip that `facts` describe (see `platform_facts`).

        `inputs` gives values, of which it gets those of inputs that it may `read`, `outputs` the
        shapes where known.
        An earlier answer to the same is given again, but `anew`. `filling` is the byte that the
        tiling data hold before.
        Raises TrialFailure(LAUNCH_ERROR) with the log when the tiling fails.
        """
        asked = host_request(operator, case, facts, inputs, outputs, read=read, filling=filling)
        request = asked.text
        known = self._answers.get(request)
        if known is not None and not anew:
            return known  # another seed of a case, or another kernel, with the same tiling
        answer = self._ask("tile", request)
        log = [str(line) for line in answer.get("log", [])]
        if answer.get("status") != "ok":
            message = str(answer.get("message") or "The host tiling failed.")
            printed = str(answer.get("printed", ""))
            failed = _failure(
                f"{message.rstrip('.')} (case '{case.name}').", "\n".join([*log, printed]).strip()
            )
            kind = CaseDeclined if answer.get("status") == "failed" else TrialFailure
            raise kind(failed.outcome, failed.refusal, _seen(answer))
        try:
            tiled = _tiling_answer(answer, log)
        except (KeyError, TypeError, ValueError, ValidationError) as problem:
            if answer.get("block_dim") == 0:
                seen = (one.place for one in _seen(answer) if one.kind == "block_dim")
                raise _failure(
                    f"The host tiling set no block dim, or 0, for case '{case.name}': no core"
                    " would run the kernel. SetBlockDim needs a number from 1 on.",
                    "\n".join(log),
                    next(seen, None),
                ) from None
            said = worded(problem) if isinstance(problem, ValidationError) else str(problem)
            detail = "\n".join([said, *log])
            raise _failure("The host program gave a malformed answer.", detail) from None
        return tiled if anew else self._answers.setdefault(request, tiled)

    def watch(self, request: HostRequest) -> list[Any]:
        """What the comparisons of a program that is built to be watched saw, as rows; also where
        the tiling refuses. Raises TrialFailure(LAUNCH_ERROR) when it does not answer."""
        found = self._ask("tile", request.text).get("decisions")
        return found if isinstance(found, list) else []

    def odd(self, request: HostRequest) -> tuple[MachineWarning, ...]:
        """What the host side asks that is odd, also where it refuses; nothing where it ends."""
        try:
            return _seen(self._ask("tile", request.text))
        except TrialFailure:
            return ()

    def definition(self) -> dict[str, Any]:
        """What the host side registers, apart from its tiling data, to compare.

        Raises TrialFailure(LAUNCH_ERROR).
        """
        answer = self._ask("describe")
        return {key: answer.get(key) for key in ("definitions", "registered")}

    def survey(self, asked: Sequence[Question], often: int) -> list[HostAnswer]:
        """Answers to all questions, each asked four times in two orders and two processes.

        The first `often` are asked in `PROCESSES` more. Raises TrialFailure(LAUNCH_ERROR) when the
        program does not run at all.
        """
        return self._surveyed([question.request for question in asked], 2 + PROCESSES, often)

    def repeated(self, asked: Sequence[HostRequest]) -> list[HostAnswer]:
        """Answers to all requests, each asked four times in two orders and two processes whose
        heaps hold the same bytes: of a build where locals do, too, what is not steady remembers.

        Raises TrialFailure(LAUNCH_ERROR) when the program does not run at all.
        """
        return self._surveyed(asked, 3, 0, alike=True)

    def answers(self, asked: Sequence[HostRequest]) -> list[HostAnswer]:
        """Inference and tiling of each request, from one process: many in the time of one.

        Raises TrialFailure(LAUNCH_ERROR) when the program does not run at all.
        """
        return self._surveyed(asked, 1, 0)

    def _surveyed(
        self, asked: Sequence[HostRequest], rounds: int, often: int, *, alike: bool = False
    ) -> list[HostAnswer]:
        words = (str(rounds), str(often), "0", str(int(alike)))
        with closing(HostRoom("survey", words)) as room:
            text = "".join(request.text for request in asked)
            (room.folder / "request").write_text(text, encoding="utf-8")
            done = room.run(self.path)
            answer = room.folder / "answer"
            if not _usable(answer):
                raise _failure(f"The host side {done.ending()} before it answered.", "")
            lines = answer.read_text(encoding="utf-8", errors="replace").splitlines()
        return _gathered(lines, len(asked), often)

    def _ask(self, command: str, request: str = "") -> dict[str, Any]:
        with closing(self._rooms.take(command)) as room:
            if request:
                (room.folder / "request").write_text(request, encoding="utf-8")
            done = room.run(self.path)
            answer = room.folder / "answer"
            if not done.ok:
                words = (done.stderr + done.stdout).decode("utf-8", errors="replace")
                failed = _failure(
                    f"The host tiling {done.ending()}.", _CRASH.sub("", words)[-4000:]
                )
                crash = _CRASH.search(words)
                if crash is None or not done.signal:
                    raise failed
                frames, without = crash.groups()
                raise HostCrash(
                    failed.refusal, tuple(frames.split()), int(without) if without else None
                )
            if not _usable(answer):
                raise _failure("The host program left no usable answer.", "")
            try:
                read = json.loads(answer.read_bytes())
            except (ValueError, RecursionError) as problem:
                raise _failure("The host program's answer is not JSON.", str(problem)) from None
        if not isinstance(read, dict):
            raise _failure("The host program's answer is not a JSON object.", "")
        return {**read, "printed": (done.stdout + done.stderr).decode("utf-8", errors="replace")}


def _usable(answer: Path) -> bool:
    """The folder was writable to the program: what lies there now is its doing."""
    return answer.is_file() and not answer.is_symlink() and answer.stat().st_size <= ANSWER_BYTES


def _gathered(lines: Iterable[str], count: int, often: int) -> list[HostAnswer]:
    """The answers of a survey, whose lines are round, step and JSON; see `cpp/README.md`."""
    said: list[tuple[list[str], list[str]]] = [([], []) for _ in range(count)]
    for line in lines:
        number, _, rest = line.partition("\t")
        step, _, text = rest.partition("\t")
        if not (number.isdecimal() and step.isdecimal()):
            continue
        asked = count if int(number) <= 2 else min(often, count)
        at = int(step) // 4
        at = at if int(number) % 2 == 0 else asked - 1 - at
        if 0 <= at < count:
            said[at][int(step) % 2].append(text)
    return [
        HostAnswer(
            _read(Inference, first),
            _read(Tiling, then),
            len({*first}) < 2 and len({*then}) < 2,
            len({*first}) < 2,
        )
        for first, then in said
    ]


def _read(kind: type[T], said: Sequence[str]) -> T | None:
    try:
        return kind.model_validate_json(said[0]) if said else None
    except ValidationError:  # a signal, or what no program of ours writes
        return None


def _tiling_answer(answer: dict[str, Any], log: list[str]) -> TilingAnswer:
    numbers: dict[int, DType] = {d.number: d for d in BY_NAME.values()}
    outputs = tuple(
        tuple(
            (numbers[t["dtype"]].name if t["dtype"] in numbers else "", tuple(t["shape"]))
            for t in tensors
        )
        for tensors in answer["outputs"]
    )
    return TilingAnswer(
        block_dim=answer["block_dim"],
        tiling_key=answer["tiling_key"],
        template_arguments=answer["template_arguments"],
        template_selected=answer["template_selected"],
        data=bytes.fromhex(answer["data"]),
        workspace=tuple(answer["workspace"]),
        schedule_mode=answer["schedule_mode"],
        outputs=outputs,
        log=tuple(log),
        warnings=_seen(answer),
        asked=_asked(answer),
    )


def _seen(answer: Mapping[str, Any]) -> tuple[MachineWarning, ...]:
    """What an answer says of numbers that do not fit and of odd questions, as far as it can be
    read."""
    found = []
    for name, read in (("narrowed", _narrowed), ("odd", _odd)):
        rows = answer.get(name)
        for row in rows[:MOST_WARNINGS] if isinstance(rows, list) else []:
            with suppress(KeyError, TypeError, ValueError, ValidationError):
                found.append(read(row))
    return tuple(found)


def _asked(answer: Mapping[str, Any]) -> tuple[Asked, ...]:
    """Where the host side asks for what, as far as it can be read."""
    found, rows = [], answer.get("asked")
    for row in rows[:MOST_ASKED] if isinstance(rows, list) else []:
        with suppress(KeyError, TypeError, ValueError, ValidationError):
            found.append(Asked(what=row["what"], number=row["number"], place=_place(row)))
    return tuple(found)


def _odd(row: dict[str, Any]) -> MachineWarning:
    kind, text = str(row["kind"]), str(row["text"])[:300]
    if kind not in ODD:
        raise ValueError(kind)
    return MachineWarning(kind=kind, subject=kind, place=_place(row), text=text)


def _place(row: dict[str, Any]) -> Place:
    file = str(row["file"])
    return Place(file=file[max(0, file.find("op_host/")) :], line=int(row["line"]))


def _narrowed(row: dict[str, Any]) -> MachineWarning:
    field = str(row["field"])[:100]
    given, becomes, bits = (int(row[name]) for name in ("given", "becomes", "bits"))
    return MachineWarning(
        kind="narrowed_field",
        subject=field,
        place=_place(row),
        text=f"The number {given} is given to {field} of the host side, which has"
        f" {amount(bits, 'bit')}: it"
        f" becomes {becomes}.",
    )


def _description(answer: dict[str, Any], operator: Operator, chip: str) -> OpDescription:
    numbers = {d.number: d.name for d in BY_NAME.values()}
    definitions = {d["op_type"]: d for d in answer["definitions"]}
    definition: dict[str, Any] = definitions.get(operator.op_type) or next(
        iter(definitions.values()), {}
    )
    dtypes: dict[str, tuple[str, ...]] = {}
    columns: dict[str, tuple[int, int]] = {}
    values: list[str] = []
    init: dict[str, float] = {}
    configs = [c for c in definition.get("configs", []) if c["soc"] == chip]
    for side in ("input", "output"):
        parameters = list(definition.get(side + "s", []))
        for config in configs:  # what the chip's own configuration says goes last and wins
            parameters += config[side + "s"]
        for p in parameters:
            named = tuple(numbers.get(n, "") for n in p["dtypes"])
            if named:
                dtypes[f"{side} {p['name']}"] = named
            lists = (("dtypes", "dtype_list"), ("formats", "format_list"))
            first, second = (0 if p[free] else len(p[name]) for name, free in lists)
            columns[f"{side} {p['name']}"] = first, second
            if p["value_depend"]:
                values.append(p["name"])
            if p["init_value"] is not None:
                init[p["name"]] = float(p["init_value"])
    for registered in answer["registered"]:
        if registered["op_type"] == operator.op_type:
            names = [spec.name for spec in operator.inputs]
            values += [names[i] for i in registered["value_inputs"] if 0 <= i < len(names)]
    return OpDescription(
        op_type=operator.op_type,
        tilings=tuple(
            (t["registered"], TilingStruct.model_validate(t["struct"])) for t in answer["tilings"]
        ),
        dtypes=dtypes,
        columns=columns,
        value_inputs=tuple(dict.fromkeys(values)),
        init_values=init,
    )


def _failure(message: str, details: str, place: Place | None = None) -> TrialFailure:
    refusal = Refusal(sentence=message, evidence=details[-8000:], place=place or Place())
    return TrialFailure(Outcome.LAUNCH_ERROR, refusal)
