"""Answers from a recording of another backend's runs, so that search is tested without a device.

A recording is a file of JSON lines: first the recorded backend's fingerprint, then one line for
each build that failed and each launch. `RecordingBackend` writes it around a real backend.
"""

from __future__ import annotations

import base64
import json
import threading
import zlib
from pathlib import Path
from typing import Annotated, Literal, Unpack

import numpy as np
from pydantic import Field, TypeAdapter, ValidationError

from ci.backend.base import Backend, Build, RunOptions
from ci.model.errors import EnvironmentProblem, InputError, TrialFailure, plainly
from ci.model.frozen import Frozen
from ci.model.json_lines import json_lines
from ci.model.launch import Array, CaseRun, Tensors, arrays
from ci.model.operator import Operator
from ci.model.regular_file import file_text
from ci.model.trial import Fingerprint, MachineWarning, Outcome, PipeTime, Refusal
from ci.model.workload import Workload, WorkloadCase
from ci.system.cache import digest


class RecordedTensor(Frozen):
    """One output array, compressed."""

    dtype: str
    shape: tuple[int, ...]
    data: str = Field(description="base64 of the zlib-compressed bytes, row-major.")

    @classmethod
    def of(cls, array: Array) -> RecordedTensor:
        """The recorded form of an array."""
        packed = base64.b64encode(zlib.compress(np.ascontiguousarray(array).tobytes()))
        return cls(dtype=array.dtype.name, shape=array.shape, data=packed.decode())

    def array(self) -> Array:
        """The array again."""
        raw = zlib.decompress(base64.b64decode(self.data))
        return np.frombuffer(raw, dtype=self.dtype).reshape(self.shape).copy()


class RecordedHead(Frozen):
    """First line: whose figures these are."""

    kind: Literal["head"] = "head"
    fingerprint: Fingerprint


class RecordedRow(Frozen):
    """A build (no case) that failed, or a launch."""

    kind: Literal["row"] = "row"
    program: str = Field(description="Digest of the operator's texts.")
    case: str = ""
    inputs: str = Field(default="", description="Digest of the launch's inputs.")
    outcome: Outcome = Outcome.OK
    refusal: Refusal | None = None
    samples_us: tuple[float, ...] = ()
    pipes: PipeTime | None = None
    tiling_key: int = 0
    warnings: tuple[MachineWarning, ...] = ()
    members_us: dict[str, float] = {}
    outputs: tuple[tuple[RecordedTensor, ...] | RecordedTensor | None, ...] = ()


_LINE: TypeAdapter[RecordedHead | RecordedRow] = TypeAdapter(
    Annotated[RecordedHead | RecordedRow, Field(discriminator="kind")]
)


MOST_RECORDED_BYTES = 1 << 30
"""Most bytes of a recording."""


class ReplayBackend(Backend):
    """Plays back the recording in a file."""

    def __init__(self, recording: Path) -> None:
        try:
            lines = json_lines(file_text(recording, most_bytes=MOST_RECORDED_BYTES))
        except OSError as problem:
            raise InputError(
                f"The recording {recording} cannot be read: {plainly(problem)}."
            ) from problem
        self._file = recording
        self._rows: dict[tuple[str, str, str], RecordedRow] = {}
        head: RecordedHead | None = None
        for number, line in enumerate(lines, start=1):
            try:
                row = _LINE.validate_json(line)
            except ValidationError as problem:
                raise InputError(
                    f"{recording}, line {number}: this is not a line of a recording."
                ) from problem
            if isinstance(row, RecordedHead):
                head = head or row
            else:
                key = row.program, row.case, row.inputs
                known = self._rows.get(key)
                if known is None or row.members_us or not known.members_us:
                    self._rows[key] = row
        if head is None:
            raise InputError(f"{recording} is not a recording: it does not say whose figures.")
        self._fingerprint = head.fingerprint.model_copy(update={"backend": "replay"})

    def fingerprint(self) -> Fingerprint:
        """The recorded device and versions, marked as replayed."""
        return self._fingerprint

    def build(self, operator: Operator, files: dict[str, str], workload: Workload) -> Build:
        """What the recorded build gave. Raises EnvironmentProblem when there is none."""
        program = _program(operator, files)
        failed = self._rows.get((program, "", ""))
        if failed:
            raise TrialFailure(failed.outcome, failed.refusal or Refusal(sentence="recorded"))
        return _ReplayBuild(self, program)

    def row(self, program: str, case: str, inputs: str) -> RecordedRow:
        """The recorded launch. Raises EnvironmentProblem when there is none."""
        found = self._rows.get((program, case, inputs))
        if found is None:
            raise EnvironmentProblem(
                f"The recording {self._file} has no run of this candidate on case {case}."
            )
        return found


class _ReplayBuild(Build):
    def __init__(self, backend: ReplayBackend, program: str) -> None:
        self._backend = backend
        self._program = program

    def run(
        self, case: WorkloadCase, inputs: Tensors, outputs: Tensors, **how: Unpack[RunOptions]
    ) -> CaseRun:
        """The recorded launch; a timeline is not recorded."""
        row = self._backend.row(self._program, case.name, _inputs(inputs))
        if row.outcome is not Outcome.OK or row.pipes is None:
            raise TrialFailure(row.outcome, row.refusal or Refusal(sentence="recorded"))
        return CaseRun(
            outputs=[
                [t.array() for t in one]
                if isinstance(one, tuple)
                else (None if one is None else one.array())
                for one in row.outputs
            ],
            samples_us=row.samples_us,
            pipes=row.pipes,
            tiling_key=row.tiling_key,
            warnings=row.warnings,
            members_us=row.members_us if how.get("ensemble") is not None else {},
        )


class RecordingBackend(Backend):
    """Works as `inner` does and writes down everything that it answers."""

    def __init__(self, inner: Backend, recording: Path) -> None:
        self._inner = inner
        self._file = recording
        self._lock = threading.Lock()
        self.write(RecordedHead(fingerprint=inner.fingerprint()))

    def fingerprint(self) -> Fingerprint:
        """Return the fingerprint of the inner backend."""
        return self._inner.fingerprint()

    def build(self, operator: Operator, files: dict[str, str], workload: Workload) -> Build:
        """Build with the inner backend; a failure is recorded and raised."""
        program = _program(operator, files)
        try:
            return _RecordingBuild(self, self._inner.build(operator, files, workload), program)
        except TrialFailure as failure:
            self.write(
                RecordedRow(program=program, outcome=failure.outcome, refusal=failure.refusal)
            )
            raise

    def write(self, row: RecordedHead | RecordedRow) -> None:
        """Append one line."""
        with self._lock, self._file.open("a", encoding="utf-8") as file:
            file.write(json.dumps(row.model_dump(mode="json", exclude_defaults=False)) + "\n")


class _RecordingBuild(Build):
    def __init__(self, recorder: RecordingBackend, inner: Build, program: str) -> None:
        self._recorder = recorder
        self._inner = inner
        self._program = program

    def run(
        self, case: WorkloadCase, inputs: Tensors, outputs: Tensors, **how: Unpack[RunOptions]
    ) -> CaseRun:
        """Run with the inner build and record how it ended."""
        key = {"program": self._program, "case": case.name, "inputs": _inputs(inputs)}
        try:
            run = self._inner.run(case, inputs, outputs, **how)
        except TrialFailure as failure:
            self._recorder.write(
                RecordedRow(**key, outcome=failure.outcome, refusal=failure.refusal)
            )
            raise
        self._recorder.write(
            RecordedRow(
                **key,
                samples_us=run.samples_us,
                pipes=run.pipes,
                tiling_key=run.tiling_key,
                warnings=run.warnings,
                members_us=run.members_us,
                outputs=tuple(
                    tuple(RecordedTensor.of(a) for a in one)
                    if isinstance(one, list)
                    else (None if one is None else RecordedTensor.of(one))
                    for one in run.outputs
                ),
            )
        )
        return run


def _program(operator: Operator, files: dict[str, str]) -> str:
    texts = operator.texts(files)
    return digest(part for item in sorted(texts.items()) for part in item)


def _inputs(inputs: Tensors) -> str:
    parts: list[str | bytes] = []
    for array in arrays(inputs):
        parts += [array.dtype.name, str(array.shape), np.ascontiguousarray(array).tobytes()]
    return digest(parts)
