"""The whole method in one small file, on the public names of `ascendopt` alone.

Read an operator, propose changes, have them judged, keep what is faster, keep what was learnt:

    python examples/mini.py examples/sample_repository/src/activation/silu_gate --budget 12

The proposals are as plain as can be: each number that has a name in the sources, doubled and
halved. `ascendopt optimize` does the same with better proposals and more care; see docs/python.md.
"""

from __future__ import annotations

import argparse
import difflib
import json
import re
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

import ascendopt

# A number with a name: `constexpr uint32_t TILE = 2048;` or `#define TILE 2048`.
NUMBER = re.compile(r"((?:const(?:expr)?\s[\w:\s]+|#define\s+)\b(\w+)\s*=?\s*)(\d+)\b")

Texts = dict[str, str]
"""Texts of an operator's sources by path."""


@dataclass(frozen=True)
class Change:
    """One proposal: what it does, and all texts with it done."""

    title: str
    texts: Texts


@dataclass(frozen=True)
class Lesson:
    """What a measured change taught: an experience tuple of the method."""

    title: str
    bottleneck: str
    diff: str
    gain: float


def proposals(texts: Texts, half: str) -> Iterator[Change]:
    """Yield a program for each named number in one half of the operator, doubled and halved.

    `half`: `op_host/`, the tiling program T, or `op_kernel/`, the kernel K.
    """
    for path, text in texts.items():
        if not path.startswith(half):
            continue
        for found in NUMBER.finditer(text):
            old = int(found[3])
            for new in (2 * old, old // 2):
                if new > 0:
                    changed = text[: found.start(3)] + str(new) + text[found.end(3) :]
                    yield Change(f"{found[2]}: {old} to {new}", {**texts, path: changed})


def diff(before: Texts, after: Texts) -> str:
    """Return the unified diff between two programs."""
    lines = [
        line
        for path, text in before.items()
        for line in difflib.unified_diff(
            text.splitlines(True), after[path].splitlines(True), f"a/{path}", f"b/{path}"
        )
    ]
    return "".join(lines)


def search(operator: ascendopt.Operator, budget: int, out: Path) -> tuple[Texts, list[Lesson]]:
    """Alternate between both halves until the budget is spent or neither gives a gain.

    Returns the fastest program that is right, and a lesson for each step towards it. `out` takes
    the profiles.
    """
    best, bank = dict(operator.sources), ascendopt.Bank()
    original = operator.evaluate()
    if not original.ok:
        raise ascendopt.InputError(f"The operator itself is not right: {original.reason}")
    score, left, lessons = original.score_us, budget - 1, list[Lesson]()
    print(f"original: {score:.3f} us")
    tried, gained = {json.dumps(best)}, True
    while gained and left > 0:
        gained = False
        for half in ("op_host/", "op_kernel/"):
            # What limits it, and what helped where that was so before. A model would be shown
            # both; our proposals are blind, so they are printed for the reader.
            bottleneck = bottleneck_of(operator, best, out / "profile")
            print(f"\n{half}: {bottleneck}")
            for retrieved in bank.search(bottleneck, count=2):
                print(f"  the bank says: {retrieved.tuple.title}")
            start = best
            for change in proposals(start, half):
                if left == 0:
                    break
                if json.dumps(change.texts) in tried:
                    continue
                tried.add(json.dumps(change.texts))
                left -= 1
                found = operator.evaluate(change.texts)
                # What does not build or is wrong is discarded at once, with the reason.
                if not found.ok:
                    print(f"  {change.title}: {found.outcome.value}: {found.reason[:60]}")
                    continue
                print(f"  {change.title}: {found.score_us:.3f} us")
                if found.score_us < score:
                    gain = score / found.score_us
                    lessons.append(Lesson(change.title, bottleneck, diff(best, change.texts), gain))
                    best, score, gained = change.texts, found.score_us, True
    return best, lessons


def bottleneck_of(operator: ascendopt.Operator, texts: Texts, out: Path) -> str:
    """Return in words what limits a program; its evaluation is answered from the first one."""
    diagnosis = operator.profile(texts, out=out).diagnosis
    return diagnosis.bottleneck if diagnosis else ""


def main() -> None:
    """Optimize one operator, and have the winner judged as a merge request's would be."""
    parser = argparse.ArgumentParser(description="Optimize one operator.")
    parser.add_argument("operator", type=Path, help="folder with op_host and op_kernel")
    parser.add_argument("--budget", type=int, default=12, help="evaluations in all")
    parser.add_argument("--out", type=Path, default=Path("mini-out"), help="takes what was found")
    arguments = parser.parse_args()

    operator = ascendopt.load(arguments.operator)
    best, lessons = search(operator, arguments.budget, arguments.out)
    arguments.out.mkdir(parents=True, exist_ok=True)
    with (arguments.out / "lessons.jsonl").open("w", encoding="utf-8") as file:
        file.writelines(json.dumps(asdict(lesson)) + "\n" for lesson in lessons)
    if not lessons:
        print("\nNothing was faster.")
        return
    # The search saw the workload's cases alone. The judge tries others: shapes, values, chips, and
    # each new decision both ways.
    patch = diff(operator.sources, best)
    words = "; ".join(lesson.title for lesson in lessons)
    print(f"\n{operator.verify(patch, out=arguments.out / 'verified', rationale=words)}")


if __name__ == "__main__":
    main()
