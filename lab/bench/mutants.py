"""Makes a corpus of mutants for the judge: faults planted into operators and shown to be wrong.

What shows them is drawn at random, not by the judge's own variation: a corpus that only holds what
the judge would find says nothing about it. Where a larger tile makes an operator faster, its
mutants ride on that, since what is not faster is not reported anyway.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from math import prod
from pathlib import Path
from random import Random
from typing import Any, Final

import yaml

from ci.backend import make_backend
from ci.backend.base import Backend
from ci.judge.evaluate import Evaluator
from ci.judge.gate_subject import Subject
from ci.model.comparison import compare
from ci.model.dtypes import BY_NAME
from ci.model.errors import InputError
from ci.model.operator import Operator, TensorSpec
from ci.model.trial import Candidate, Outcome, Trial
from ci.model.workload import AttrValue, Entry, TensorCase, Workload, WorkloadCase
from ci.source.cpp_source import Edit, Source, constants
from lab.bench.corpus import Operators, workload_of
from lab.bench.mutations import Mutation, host_mutations, kernel_mutations
from lab.model.judge import Attack, JudgeBenchSettings, SourceEdit

DRAWN: Final = 14
"""Random cases that the original operator passes, and as many that it refuses at most."""
TRIED: Final = 40
"""Mutants of one operator that are run at most."""
PLAIN: Final = 0.25
"""Share of an operator's mutants that may fail its own workload already, and of those that are
wrong by construction: both say little of a judge."""
MOST_ELEMENTS: Final = 1 << 21
_TILE: Final = re.compile(r"(?i)(tile|chunk|rows|length|block_?rows)")


def write_mutants(settings: JudgeBenchSettings, tell: Callable[[str], None]) -> None:
    """Write a corpus of about `settings.mutate` mutants that are shown to be wrong, an equal share
    of each operator as far as it has them. Raises InputError when there is no file to write to."""
    path = settings.write
    if path is None:
        raise InputError("--mutate makes a corpus; say with --write FILE where it goes.")
    operators = Operators(settings.operators).given
    backend = make_backend("sim", settings.device)
    share = -(-settings.mutate // len(operators))
    comment = f"Made by `ascendopt bench judge --mutate {settings.mutate} --seed {settings.seed}`."
    found: list[Attack] = []

    def of(operator: Operator) -> list[Attack]:
        return list(islice(_Prover(operator, backend, settings.seed).proven(share), share))

    with ThreadPoolExecutor(settings.jobs, "mutants") as pool:
        for operator, own in zip(operators, pool.map(of, operators), strict=True):
            found += own
            tell(f"{operator.name}: {len(own)} mutants, {len(found)} in all")
            write_corpus(path, found, comment)


def write_corpus(path: Path, attacks: Sequence[Attack], comment: str) -> None:
    """Write a corpus file that `bench judge --attacks` reads; raises InputError."""
    rows = [a.model_dump(by_alias=True, exclude_defaults=True, mode="json") for a in attacks]
    for row in rows:
        if "witness" in row:
            row["witness"] = [_Flow(case) for case in row["witness"]]
    text = yaml.dump(rows, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=110)
    try:
        path.write_text(f"# {comment}\n{text}", encoding="utf-8")
    except OSError as problem:
        raise InputError(f"{path} cannot be written: {problem.strerror}.") from problem


class _Prover:
    """Finds the mutants of one operator that can be shown to be wrong."""

    def __init__(self, operator: Operator, backend: Backend, seed: int) -> None:
        self.operator = operator
        self.random = Random(f"{seed} {operator.name}")
        self.workload = workload_of(operator)
        self.evaluator = Evaluator(operator, self.workload, backend)
        self.baseline = self.evaluator.evaluate(Candidate(), 0)
        self.right: list[WorkloadCase] = []
        self.refused: list[WorkloadCase] = []
        for case in islice(drawn_cases(operator, self.workload, self.random), 4 * DRAWN):
            defect = self.evaluator.standard.baseline.defect(case, self.workload.seeds[0])
            into = self.right if defect == "" else self.refused if defect is None else None
            if into is not None and len(into) < DRAWN:
                into.append(case)

    def proven(self, share: int) -> Iterator[Attack]:
        """Mutants that are wrong, at most `PLAIN` of a share of each kind that says little."""
        if self.baseline.outcome is not Outcome.OK:
            return
        carrier, edits = self._carrier()
        plain = {"promised": 0, "fails": 0}
        for number, (path, mutation) in enumerate(islice(self._in_turns(carrier), TRIED)):
            if mutation.promised and plain["promised"] >= PLAIN * share:
                continue
            files = carrier | {path: mutation.text}
            candidate = Candidate(files=self.evaluator.standard.changed(files), stage="kernel")
            trial = self.evaluator.evaluate(candidate, number)
            if trial.outcome in (Outcome.COMPILE_ERROR, Outcome.REJECTED):
                continue
            note, witness = self._shown(trial, candidate, mutation)
            fails = trial.outcome is not Outcome.OK
            if not note or (fails and plain["fails"] >= PLAIN * share):
                continue
            plain["fails"] += fails
            plain["promised"] += mutation.promised
            before = (self.operator.texts() | carrier)[path]
            yield Attack(
                id=f"m-{self.operator.name}-{candidate.hash[:6]}",
                kind=mutation.kind,
                operator="/".join(self.operator.root.parts[-2:]),
                what=mutation.what,
                stage="kernel" if carrier or path in self.operator.kernel_sources else "tiling",
                wrong="yes",
                note=note,
                edits=(*edits, smallest_edit(path, before, mutation.text)),
                witness=witness,
            )

    def _shown(
        self, trial: Trial, candidate: Candidate, mutation: Mutation
    ) -> tuple[str, tuple[dict[str, object], ...]]:
        """How a mutant is wrong, and the case that shows it; '' when nothing shows it."""
        if mutation.promised:
            return "by construction: the definition promises callers something else", ()
        if trial.refusal is not None:
            return f"fails its own workload: {trial.refusal.message}"[:200], ()
        subject = self.evaluator.subject(candidate)
        for case in (*self.right, *self.refused):
            said = shown_wrong(subject, case)
            if said:
                return f"shown by witness: {said}"[:200], (as_given(case),)
        return "", ()

    def _carrier(self) -> tuple[dict[str, str], list[SourceEdit]]:
        """The operator with a larger tile where that is faster, and right wherever it was."""
        for path in self.operator.kernel_sources + self.operator.host_sources:
            text = self.operator.read(path)
            source = Source(text)
            for _, name, value in constants(source):
                number = source.of(value)
                if not number.isdigit() or not _TILE.search(source.of(name)):
                    continue
                for factor in (4, 2):
                    larger = Edit(value.start_byte, value.end_byte, str(int(number) * factor))
                    files = {path: source.apply([larger])}
                    if self._faster(Candidate(files=files, stage="kernel")):
                        return files, [smallest_edit(path, text, files[path])]
        return {}, []

    def _faster(self, candidate: Candidate) -> bool:
        trial = self.evaluator.evaluate(candidate, 0)
        if trial.measurement is None or self.baseline.measurement is None:
            return False
        if compare(self.baseline.measurement, trial.measurement).verdict != "improved":
            return False
        subject = self.evaluator.subject(candidate)
        return not any(shown_wrong(subject, case) for case in self.right)

    def _in_turns(self, carrier: dict[str, str]) -> Iterator[tuple[str, Mutation]]:
        """All mutations of all sources, a random one of each class after the other."""
        classes: dict[str, list[tuple[str, Mutation]]] = {}
        for path, text in self.operator.texts(carrier).items():
            host = path in self.operator.host_sources
            for mutation in host_mutations(text) if host else kernel_mutations(text):
                if mutation.text != text:
                    classes.setdefault(mutation.kind, []).append((path, mutation))
        for found in classes.values():
            self.random.shuffle(found)
        order = self.random.sample("aabbcdg", 7)
        while any(classes.values()):
            for kind in order:
                if classes.get(kind):
                    yield classes[kind].pop()


def shown_wrong(subject: Subject, case: WorkloadCase) -> str:
    """What a candidate does wrong on a case that the original operator handles; '' if nothing.

    To take what the operator refuses is wrong too.
    """
    seed = subject.standard.workload.seeds[0]
    defect = subject.standard.baseline.defect(case, seed)
    if defect:
        return ""
    now = subject.at(case, seed, timed=False)
    if defect is None:
        try:
            return "" if now.failure else "it takes what the original operator refuses"
        except InputError:  # nor does the golden function
            return ""
    failure = now.judged()
    return "" if failure is None else str(failure)


def smallest_edit(path: str, before: str, after: str) -> SourceEdit:
    """The lines in which two texts differ, with as many around them as make them unique."""
    old, new = before.splitlines(keepends=True), after.splitlines(keepends=True)
    differ = (i for i, line in enumerate(old) if i >= len(new) or line != new[i])
    first = next(differ, len(old))
    same = 0
    while same < min(len(old), len(new)) - first and old[-1 - same] == new[-1 - same]:
        same += 1
    while True:
        held = "".join(old[first : len(old) - same])
        if held and before.count(held) == 1:
            put = "".join(new[first : len(new) - same])
            cut = held.endswith("\n") and put.endswith("\n")
            return SourceEdit(
                file=path, old=held[:-1] if cut else held, new=put[:-1] if cut else put
            )
        first, same = max(0, first - 1), max(0, same - 1)


def drawn_cases(operator: Operator, workload: Workload, random: Random) -> Iterator[WorkloadCase]:
    """Random cases of the operator: other lengths, ranges, dtypes and attributes. Endless."""
    number = 0
    while True:
        number += 1
        case = random.choice(workload.cases)
        case = _in_column(operator, case, random) if random.random() < 0.3 else case
        case = _with_lengths(case, random) if random.random() < 0.8 else case
        case = _with_values(case, random) if random.random() < 0.4 else case
        attrs = {n: _other(v, random) for n, v in case.attrs.items()}
        for spec in operator.attrs:
            if spec.name not in attrs and spec.default is not None:
                attrs[spec.name] = _other(spec.default, random)
        update: dict[str, object] = {"name": f"drawn {number}", "attrs": attrs}
        case = case.model_copy(update=update)
        if sum(prod(t.shape) for t in _tensors(case.inputs)) <= MOST_ELEMENTS:
            yield case


def _tensors(entries: Sequence[Entry]) -> list[TensorCase]:
    return [t for e in entries for t in (e if isinstance(e, tuple) else (e,))]


def _with_lengths(case: WorkloadCase, random: Random) -> WorkloadCase:
    """One or all of the lengths otherwise, each wherever the case has it."""
    given = {d for t in _tensors(case.inputs) if t.values is not None for d in t.shape}
    lengths = sorted({d for t in _tensors(case.inputs) for d in t.shape if d > 1} - given)
    chosen = lengths if random.random() < 0.4 else random.sample(lengths, min(1, len(lengths)))
    new = {d: _other_length(d, random) for d in chosen}

    def resized(tensor: TensorCase) -> TensorCase:
        if tensor.values is not None:
            return tensor
        return tensor.model_copy(update={"shape": tuple(new.get(d, d) for d in tensor.shape)})

    return case.changed("other lengths", resized)


def _other_length(length: int, random: Random) -> int:
    made = random.choice((length * 2, length * 3, length * 8, length * 32, length // 2, length + 8))
    made = random.choice((made, made, made + 1, made - 1, made + 16))
    return max(1, made if random.random() < 0.5 else made // 8 * 8)


def _with_values(case: WorkloadCase, random: Random) -> WorkloadCase:
    """The ranges of floating-point inputs scaled, shifted or narrowed to one value."""
    scale, shift = random.choice(((30.0, 0.0), (1e-3, 0.0), (1.0, 100.0), (0.0, 1.0), (1.0, -5.0)))

    def moved(tensor: TensorCase) -> TensorCase:
        if tensor.values is not None or not BY_NAME[tensor.dtype].is_float:
            return tensor
        low, high = (bound * scale + shift for bound in tensor.range)
        return tensor.model_copy(update={"range": (low, high)})

    return case.changed("other values", moved)


def _in_column(operator: Operator, case: WorkloadCase, random: Random) -> WorkloadCase:
    """The case in one of the dtype columns of the definition."""
    column = random.randrange(max((len(s.dtypes) for s in operator.inputs), default=1))

    def entries(given: Sequence[Entry], specs: Sequence[TensorSpec]) -> tuple[Entry, ...]:
        def one(tensor: TensorCase, spec: TensorSpec) -> TensorCase:
            dtype = spec.dtypes[min(column, len(spec.dtypes) - 1)] if spec.dtypes else tensor.dtype
            return tensor.model_copy(update={"dtype": dtype})

        return tuple(
            tuple(one(t, spec) for t in entry) if isinstance(entry, tuple) else one(entry, spec)
            for entry, spec in zip(given, specs, strict=False)
        )

    inputs, outputs = entries(case.inputs, operator.inputs), entries(case.outputs, operator.outputs)
    return case.model_copy(update={"inputs": inputs, "outputs": outputs})


def _other(value: AttrValue, random: Random) -> AttrValue:
    if random.random() < 0.6:
        return value
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return max(0, value + random.choice((-1, 1, value)))
    return random.choice((0.0, 1.0, -value, value * 3)) if isinstance(value, float) else value


def as_given(case: WorkloadCase) -> dict[str, object]:
    """The case as a workload file writes it, without its name."""

    def tensor(one: TensorCase) -> dict[str, Any]:
        kept = one.model_dump(mode="json", exclude_defaults=True)
        return kept | {"range": [float(f"{b:.6g}") for b in one.range]} if "range" in kept else kept

    def entries(given: Sequence[Entry]) -> list[Any]:
        return [[tensor(t) for t in e] if isinstance(e, tuple) else tensor(e) for e in given]

    found: dict[str, object] = {"inputs": entries(case.inputs)}
    if case.outputs:
        found["outputs"] = entries(case.outputs)
    if case.attrs:
        found["attrs"] = {n: list(v) if isinstance(v, tuple) else v for n, v in case.attrs.items()}
    return found


class _Flow(dict[str, object]):
    """Written on one line as far as it fits."""


class _Dumper(yaml.SafeDumper):
    """Texts of several lines as blocks."""

    def ignore_aliases(self, data: Any) -> bool:
        """Every value is written out."""
        return True


def _text(dumper: yaml.SafeDumper, text: str) -> yaml.Node:
    return dumper.represent_scalar(
        "tag:yaml.org,2002:str", text, style="|" if "\n" in text else None
    )


def _flow(dumper: yaml.SafeDumper, case: _Flow) -> yaml.Node:
    return dumper.represent_mapping("tag:yaml.org,2002:map", case, flow_style=True)


_Dumper.add_representer(str, _text)
_Dumper.add_representer(_Flow, _flow)
