"""Role 3, the inverse agent: remove exactly one optimization from a strong kernel, and name it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from ci.model.operator import Operator
from ci.model.trial import Candidate
from ci.proposer.base import Rewound
from ci.proposer.llm.answer import BadAnswer, read_line, read_words
from ci.proposer.llm.diagnosing import known_classes, taxonomy_lines
from ci.proposer.llm.dialogue import check_new, nothing_left
from ci.proposer.llm.edits import apply_edits, read_edits
from ci.proposer.llm.prompts import attributes
from ci.proposer.llm.run import ModelRun
from ci.proposer.sources import changed_only, editable
from ci.source.source_diff import git_diff

WAYS: Final = 3
"""Removals that the inverse agent is asked for at one kernel."""

MOST_LINES: Final = 60
"""Changed lines of a removal: a larger change is never exactly one optimization."""


@dataclass(frozen=True)
class Removal:
    """One question to the inverse agent: the kernel as it is now."""

    run: ModelRun
    operator: Operator
    files: dict[str, str]
    known: frozenset[str]
    """Hashes of the removals that were proposed already."""

    def texts(self) -> dict[str, str]:
        """The kernel texts: all that an answer may change."""
        return editable(self.operator, self.files, self.operator.kernel_sources)

    def rewound(self, text: str) -> Rewound | None:
        """The removal of an answer, None when it says that nothing is left. Raises BadAnswer."""
        if "<<<<<" not in text and nothing_left(text):
            return None
        title = read_line(text, "TITLE", 120)
        description = read_line(text, "DESCRIPTION", 800)
        if not title or not description:
            raise BadAnswer("The lines 'TITLE:' and 'DESCRIPTION:' are missing.")
        classes = known_classes(read_words(text, "CLASSES"))
        changed = apply_edits(self.texts(), read_edits(text))
        lines = _changed_lines(self.texts(), changed)
        if lines > MOST_LINES:
            raise BadAnswer(
                f"The edits change {lines} lines; exactly one optimization must be removed, in at "
                f"most {MOST_LINES} changed lines."
            )
        rule = f"llm-{re.sub(r'[^a-z0-9]+', '-', title.lower()).strip('-')[:60]}"
        candidate = self.run.candidate(
            "rewind",
            "rewind",
            changed_only(self.operator, self.files | changed),
            Candidate(files=self.files).hash,
            rationale=f"Without: {title}",
            motif_ids=(rule,),
        )
        if candidate.hash in self.known:
            raise BadAnswer("This very removal was proposed already; choose another optimization.")
        check_new(candidate, self.operator, ())
        return Rewound(
            candidate=candidate,
            motif_id=rule,
            title=title,
            description=description,
            classes=classes,
        )


@dataclass(frozen=True)
class ModelRewinder:
    """Asks for up to three removals, each another one."""

    run: ModelRun

    def __call__(
        self, operator: Operator, files: dict[str, str], removed: Sequence[str]
    ) -> list[Rewound]:
        """The removals that could be used; none where the model saw no more before.

        Raises ModelUnavailable.
        """
        found: list[Rewound] = []
        asked = ("rewind", Candidate(files=files).hash)
        for _ in range(0 if asked in self.run.begun.closed else WAYS):
            task = Removal(self.run, operator, files, frozenset(w.candidate.hash for w in found))
            try:
                way = self._ask(task, [*removed, *(w.title for w in found)])
            except BadAnswer:
                continue
            if way is None:
                self.run.begun.closed.add(asked)
                break
            found.append(way)
        return found

    def _ask(self, task: Removal, removed: list[str]) -> Rewound | None:
        begun = self.run.begun
        return self.run.ask(
            "rewind",
            begun.device,
            task.rewound,
            attributes=attributes(task.operator, begun.workload),
            kernel=task.texts(),
            removed=removed,
            taxonomy=taxonomy_lines(),
            most_lines=MOST_LINES,
        )


def _changed_lines(before: dict[str, str], changed: dict[str, str]) -> int:
    diff = git_diff({p: before[p] for p in changed}, changed)
    return sum(
        line[:1] in "+-" and line[:3] not in ("+++", "---") for line in diff.split("\n") if line
    )
