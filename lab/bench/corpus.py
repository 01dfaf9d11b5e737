"""Reads a corpus of candidates for the judge, and makes candidates of its edits."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from random import Random
from typing import Final

from pydantic import RootModel, ValidationError

from ci.model.errors import InputError, worded
from ci.model.operator import Operator
from ci.model.trial import Candidate
from ci.model.workload import Workload, WorkloadCase
from ci.model.yaml_model import YamlFile
from ci.source.discovery import find_operators
from ci.source.workload_file import load_workload
from ci.source.workload_model import GivenCase, case_for
from lab.bench.machine import shipped_operators
from lab.model.judge import Attack, JudgeBenchSettings, as_ids

_EXAMPLES: Final = Path(__file__).parents[2] / "examples"
MOST_BYTES: Final = 4_000_000
"""Most bytes of a corpus file."""


@dataclass(frozen=True)
class Entry:
    """A candidate of a corpus, and where it stands."""

    attack: Attack
    file: YamlFile
    number: int

    def wrong(self, what: str, *place: str | int) -> InputError:
        """What is wrong with it, with the line."""
        return self.file.wrong((self.number, *place), f"{self.attack.id} {what}")


def read_corpus(path: Path | None) -> list[Entry]:
    """The candidates of a YAML file or of a folder of them; raises InputError."""
    top = path or _EXAMPLES / "attacks"
    if path is None and not top.is_dir():
        raise InputError("The corpus comes with the sources only; give one with --attacks FILE.")
    files = sorted(top.glob("*.yaml")) if top.is_dir() else [top]
    found: dict[str, Entry] = {}
    for name in files:
        file = YamlFile.open(name, most_bytes=MOST_BYTES, aliases=True)
        for number, attack in enumerate(file.read(RootModel[list[Attack]]).root):
            entry = Entry(attack, file, number)
            if attack.id in found:
                raise entry.wrong(f"is in {found[attack.id].file.name}, too", "id")
            found[attack.id] = entry
    if not found:
        raise InputError(f"{top} holds no candidate.")
    return list(found.values())


def chosen(entries: Sequence[Entry], settings: JudgeBenchSettings) -> list[Entry]:
    """Return those that `--only` and `--sample` ask for; raises InputError for an id that there is
    not."""
    wanted = as_ids(settings.only)
    known = {e.attack.id: e for e in entries}
    if unknown := [i for i in wanted if i not in known]:
        raise InputError(f"--only names {', '.join(unknown)}, which the corpus does not have.")
    left = [known[i] for i in wanted] if wanted else list(entries)
    if not settings.sample or settings.sample >= len(left):
        return left
    Random(settings.seed).shuffle(left)
    kinds: dict[tuple[str, str], list[Entry]] = defaultdict(list)
    for entry in left:
        kinds[entry.attack.truth, entry.attack.kind].append(entry)
    turns = sorted((row, kind, e) for kind, es in kinds.items() for row, e in enumerate(es))
    return [entry for _, _, entry in turns[: settings.sample]]


class Operators:
    """The operators that a corpus may name, by the last two folders of their path."""

    def __init__(self, repository: Path | None) -> None:
        sample = _EXAMPLES / "sample_repository"
        shipped = shipped_operators() + (find_operators(sample) if sample.is_dir() else [])
        self.given = find_operators(repository) if repository is not None else shipped
        self._known = [*self.given, *shipped]

    def find(self, entry: Entry) -> Operator:
        """The operator that the candidate is of; raises InputError."""
        name = PurePosixPath(entry.attack.operator).parts[-2:]
        for operator in self._known:
            if operator.root.parts[-2:] == name:
                return operator
        raise entry.wrong(f"is of {'/'.join(name)}, an operator that is not there", "operator")


def workload_of(operator: Operator) -> Workload:
    """The operator's own workload, or the one that the examples have for it."""
    own = (operator.root / "workload.yaml").exists()
    return load_workload(operator, None if own else _EXAMPLES / "workloads" / operator.name)


def candidate_of(entry: Entry, operator: Operator) -> Candidate:
    """The operator with the edits made; raises InputError where one does not fit."""
    texts, changed = operator.texts(), dict[str, str]()
    for number, edit in enumerate(entry.attack.edits):
        place = ("edits", number)
        fits = [p for p in texts if p.endswith(edit.file)]
        if edit.old is None:
            changed[fits[0] if fits else edit.file] = edit.new
            continue
        if len(fits) != 1:
            raise entry.wrong(f"edits {edit.file}, which {len(fits)} sources end in", *place)
        text = changed.get(fits[0], texts[fits[0]])
        if text.count(edit.old) != 1:
            what = f"replaces a text that {fits[0]} holds {text.count(edit.old)} times"
            raise entry.wrong(what, *place)
        changed[fits[0]] = text.replace(edit.old, edit.new)
    return Candidate(files=changed, stage=entry.attack.stage, rationale=entry.attack.what)


def witnesses_of(entry: Entry, operator: Operator) -> list[WorkloadCase]:
    """The cases that show the candidate to be wrong; raises InputError where one is no case."""
    found = []
    for number, witness in enumerate(entry.attack.witness):
        try:
            given = GivenCase.model_validate(witness)
            case = case_for(operator, YamlFile("", "witness"), given, 0)
        except ValidationError as problem:
            raise entry.wrong(
                f"has a witness that is no case: {worded(problem)}", "witness"
            ) from None
        except InputError as problem:
            said = str(problem).partition(": ")[2].rstrip(".")
            raise entry.wrong(f"has a witness that does not fit: {said}", "witness") from None
        name = f"witness {number} of {entry.attack.id}"
        found.append(case.model_copy(update={"name": name}))
    return found
