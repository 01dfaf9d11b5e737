"""A repository of small operators on a forge, and the people who work in it.

Each thing that they do returns the events that the forge sends for it. What they said no to, and
what they are owed an answer for, is kept here: the bot's own books are held to it.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from bot.events.model import Event
from bot.forge.local import LocalForge
from bot.forge.model import MergeRequest
from bot.server.own_requests import BRANCHES, operator_of
from tests.bot.forge.server.base import ForgeServer
from tests.bot.make import git, published, written
from tests.bot.server.month.clock import Clock
from tests.bot.server.month.evaluation import SLOW, gain, host, kernel

ROBOT: Final = "robot"
TOKEN: Final = "robots-token"
GROUP: Final = 10
"""Operators that share a header."""
BUSY: Final = 12
"""Operators that people work on most."""
MOST, DAILY = 3, 4
LIMITS: Final = (
    "limits: {{open_merge_requests: {}, daily_merge_requests: {}, operators_per_event: {}}}\n"
)


def operators(count: int) -> list[str]:
    return [f"src/group_{n // GROUP:02}/op_{n:03}" for n in range(count)]


def sources(folder: str) -> dict[str, str]:
    name = folder.rpartition("/")[2]
    kind = name.title().replace("_", "")
    files = {
        f"{folder}/{host(folder)}": '#include "../../common.h"\n'
        "constexpr uint32_t TILE = 1024;\nconstexpr uint32_t BLOCKS = 8;\n"
        f'class {kind} : public OpDef {{\n    {kind}() {{ this->Input("x"); }}\n}};\n'
        f"OP_ADD({kind});\n",
        f"{folder}/{kernel(folder)}": "// compute\n"
        f'extern "C" __global__ __aicore__ void {name}(GM_ADDR x, GM_ADDR tiling) {{}}\n',
        f"{folder.rpartition('/')[0]}/common.h": "constexpr int CUT = 1;\n",
    }
    if int(name[-1]) % 2:
        files[f"{folder}/workload.yaml"] = f"operator: {kind}\n"
    return files


@dataclass
class Said:
    """A command that somebody may give: exactly one answer is owed."""

    number: int
    comment: int
    text: str
    issue: bool = False


@dataclass
class People:
    """Who works in the repository, and all that they did."""

    folder: Path
    server: ForgeServer
    forge: str
    clock: Clock
    rng: random.Random
    folders: list[str]
    noes: dict[str, int] = field(default_factory=dict)
    """The bot's merge request that somebody closed, by operator."""
    ignored: dict[str, int] = field(default_factory=dict)
    """Operators to ignore, with the last merge request that there was then."""
    touched: set[str] = field(default_factory=set)
    """Operators that a push to the default branch changed."""
    taken: set[str] = field(default_factory=set)
    """Operators on whose proposal a person works."""
    cancelled: set[str] = field(default_factory=set)
    """Heads of merge requests for which somebody wanted all work stopped."""
    said: list[Said] = field(default_factory=list)
    requests: dict[int, str] = field(default_factory=dict)
    """Operator of people's own merge requests."""
    deliveries: int = 0
    done: list[str] = field(default_factory=list)
    """What happened, for whoever reads a failure."""

    @classmethod
    def of(
        cls,
        folder: Path,
        forge: str,
        server: type[ForgeServer],
        clock: Clock,
        count: int,
        searches: int,
        seed: int,
    ) -> People:
        folders, checkout = operators(count), folder / "checkout"
        for one in folders:
            written(checkout, sources(one))
        config = LIMITS.format(MOST, DAILY, searches)
        written(checkout, {"README.md": "operators\n", ".ascendopt.yml": config})
        published(checkout, folder / "ops.git")
        served = server(folder / "ops.git", {TOKEN: ROBOT})
        for name, access in ((ROBOT, "write"), ("alice", "write"), ("eve", "read")):
            served.forge().set_permission(name, access)  # type: ignore[arg-type]
        return cls(folder, served, forge, clock, random.Random(seed), folders)

    # What they see

    def view(self, who: str = "alice") -> LocalForge:
        return self.server.forge(who)

    def bots(self, state: str = "open") -> list[MergeRequest]:
        found = self.view().merge_requests("all", BRANCHES)
        return [m for m in found if m.author == ROBOT and state in ("all", m.state)]

    def operator(self, request: MergeRequest) -> str:
        return operator_of(request, self.folders)

    def text(self, path: str, ref: str = "main") -> str:
        return (self.view().file(path, ref) or b"").decode()

    def gain(self, folder: str) -> float:
        """What there is to gain on the default branch as it is now."""
        texts = [self.text(f"{folder}/{name}") for name in (host(folder), kernel(folder))]
        return gain(folder, *texts)

    # What they do

    def act(self) -> list[Event]:
        """One thing that somebody does, drawn at random."""
        often: list[tuple[int, Callable[[], list[Event]]]] = [
            (24, self.push_kernel),
            (6, self.push_tile),
            (3, self.push_header),
            (5, self.push_readme),
            (1, self.break_kernel),
            (2, self.break_settings),
            (1, self.rewrite),
            (2, self.slow_kernel),
            (24, self.open_request),
            (6, self.update_request),
            (3, self.force_push_request),
            (5, self.merge_request),
            (3, self.close_request),
            (24, self.write),
            (2, self.write_in_dashboard),
            (10, self.merge_bots),
            (4, self.close_bots),
            (2, self.delete_bots),
            (1, self.commit_on_bots),
            (1, self.amend_bots),
            (1, self.revert),
        ]
        weights = [w for w, _ in often]
        act = self.rng.choices([a for _, a in often], weights)[0]
        events = act()
        self.done.append(f"{self.clock.date():%d %H:%M} {act.__name__}: {self._last}")
        self._last = ""
        return events

    _last: str = ""

    def event(self, **values: Any) -> Event:
        self.deliveries += 1
        given = {"forge": self.forge, "delivery": f"d{self.deliveries}", "repository": "team/ops"}
        return Event.model_validate(given | values)

    def push(self, files: dict[str, str], message: str = "Change") -> list[Event]:
        """Commit to the default branch."""
        self.update()
        written(self.checkout, files)
        git(self.checkout, "add", "-A")
        git(self.checkout, "commit", "-q", "--allow-empty", "-m", message)
        return self.pushed()

    def pushed(self) -> list[Event]:
        before = self.view().branch_head("main") or ""
        git(self.checkout, "push", "-q", "--force", "origin", "HEAD:main")
        after = git(self.checkout, "rev-parse", "HEAD")
        changed = git(self.checkout, "diff", "--name-only", before, after).split()
        for folder in self.folders:
            top = folder.rpartition("/")[0]
            if any(p.startswith(f"{folder}/op_") or p == f"{top}/common.h" for p in changed):
                self.touched.add(folder)
        self._last += f" {changed}"
        return [self.event(kind="push", ref="refs/heads/main", before=before, after=after)]

    @property
    def checkout(self) -> Path:
        return self.folder / "checkout"

    def update(self, ref: str = "main") -> None:
        git(self.checkout, "fetch", "-q", "origin", ref)
        git(self.checkout, "checkout", "-q", "-f", "--detach", "FETCH_HEAD")

    def any(self) -> str:
        """An operator; most work is done on a few."""
        few = self.folders[:BUSY] if self.rng.random() < 0.6 else self.folders
        return self.rng.choice(few)

    def push_kernel(self) -> list[Event]:
        return self.push(self._longer(self.any()))

    def _longer(self, folder: str, ref: str = "main") -> dict[str, str]:
        path = f"{folder}/{kernel(folder)}"
        return {path: self.text(path, ref) + f"// change {self.deliveries}\n"}

    def push_tile(self) -> list[Event]:
        """A person chooses another size: whatever was proposed for the line no longer applies."""
        folder = self.any()
        path, size = f"{folder}/{host(folder)}", 512 + 8 * self.deliveries
        return self.push({path: re.sub(r"TILE = \d+", f"TILE = {size}", self.text(path))})

    def push_header(self) -> list[Event]:
        path = f"{self.any().rpartition('/')[0]}/common.h"
        return self.push({path: f"constexpr int CUT = {self.deliveries};\n"})

    def push_readme(self) -> list[Event]:
        return self.push({"README.md": f"operators, {self.deliveries}\n"})

    def break_kernel(self) -> list[Event]:
        folder = self.any()
        path = f"{folder}/{kernel(folder)}"
        return self.push({path: self.text(path) + "#error\n"})

    def slow_kernel(self) -> list[Event]:
        open_ones = [self.operator(m) for m in self.bots()]
        folder = self.rng.choice([f for f in open_ones if f] or self.folders)
        path = f"{folder}/{kernel(folder)}"
        return self.push({path: self.text(path) + SLOW + "\n"})

    def break_settings(self) -> list[Event]:
        """A mistake in the configuration, which stays until the evening."""
        return self.push({".ascendopt.yml": self.text(".ascendopt.yml") + "budgte: 3\n"})

    def mend_settings(self) -> list[Event]:
        text = self.text(".ascendopt.yml")
        mended = text.replace("budgte: 3\n", "")
        return self.push({".ascendopt.yml": mended}) if mended != text else []

    def rewrite(self) -> list[Event]:
        """Somebody takes the last commit back by force, and pushes another."""
        self.update()
        last = git(self.checkout, "log", "-1", "--format=%s %p")
        if last.split()[0] != "Change" or len(last.split()) != 2:
            return []
        git(self.checkout, "reset", "-q", "--hard", "HEAD~1")
        folder = self.any()
        path = f"{folder}/{kernel(folder)}"
        text = (self.checkout / path).read_text()
        written(self.checkout, {path: text + f"// again {self.deliveries}\n"})
        git(self.checkout, "commit", "-q", "-a", "-m", "Change")
        return self.pushed()

    # Their own merge requests

    def open_ones(self) -> list[MergeRequest]:
        found = self.view().merge_requests("open")
        return [m for m in found if m.author != ROBOT]

    def open_request(self) -> list[Event]:
        folder, branch = self.any(), f"change-{self.deliveries}"
        self.update()
        written(self.checkout, self._longer(folder))
        git(self.checkout, "commit", "-q", "-a", "-m", "Change")
        git(self.checkout, "push", "-q", "origin", f"HEAD:refs/heads/{branch}")
        made = self.view().open("Change", "", branch, "main")
        self.requests[made.number] = folder
        self._last = f"{made.number} {folder}"
        return [self._of_request(made, "opened")]

    def _of_request(self, made: MergeRequest, action: str) -> Event:
        return self.event(
            kind="merge_request",
            action=action,
            number=made.number,
            sender=made.author,
            head=made.head,
        )

    def _one(self) -> MergeRequest | None:
        found = self.open_ones()
        return self.rng.choice(found) if found else None

    def update_request(self) -> list[Event]:
        return self._pushed_again(force=False)

    def force_push_request(self) -> list[Event]:
        return self._pushed_again(force=True)

    def _pushed_again(self, *, force: bool) -> list[Event]:
        made = self._one()
        if made is None:
            return []
        folder = self.requests[made.number]
        self.update("main" if force else made.source_branch)
        written(self.checkout, self._longer(folder, "main" if force else made.source_branch))
        git(self.checkout, "commit", "-q", "-a", "-m", "Change")
        git(self.checkout, "push", "-q", "--force", "origin", f"HEAD:{made.source_branch}")
        self._last = f"{made.number} {folder}"
        return [self._of_request(self.view().merge_request(made.number), "updated")]

    def merge_request(self) -> list[Event]:
        made = self._one()
        return [] if made is None else self._merged(made)

    def _merged(self, made: MergeRequest, *, squash: bool = False) -> list[Event]:
        """As a forge does: not where lines are in conflict; the branch goes."""
        self._last = f"{made.number} into {made.target_branch}"
        self.update(made.target_branch)
        git(self.checkout, "fetch", "-q", "origin", made.source_branch)
        try:
            git(self.checkout, "merge", "-q", "--no-ff", "-m", "Merge", "FETCH_HEAD")
        except Exception:
            git(self.checkout, "merge", "--abort")
            self._last += ": in conflict"
            return []
        if made.target_branch == "main":
            events = self.pushed()
        else:
            git(self.checkout, "push", "-q", "origin", f"HEAD:{made.target_branch}")
            events = []
        made = self.view().merge_request(made.number)
        assert made.state == "merged"
        git(self.checkout, "push", "-q", "origin", "--delete", made.source_branch)
        return [*events, self._of_request(made, "merged")]

    def close_request(self) -> list[Event]:
        made = self._one()
        if made is None:
            return []
        self._last = str(made.number)
        return [self._of_request(self.view().close(made.number), "closed")]

    # What they write

    def write(self) -> list[Event]:
        mine, others = self.open_ones(), self.bots()
        if not mine:
            return []
        made, who = self.rng.choice(mine), "alice"
        folder = self.any()
        text = self.rng.choice(
            [
                "/optimize",
                f"/optimize op={folder}",
                "/optimize status",
                "/optimize cancel",
                "/optimize retry",
                "/measure",
                "/optimise",
                "/optimize budgte=3",
                "Looks good to me.",
                "Thanks!\n\n> /optimize\n\nwas a nice command.",
                f"/ignore operator {folder}",
                f"/ignore operator {folder} until 2026-03-20",
                f"/unignore operator {folder}",
                "/optimize help",
                "stranger",
                "under one of the bot",
            ]
        )
        if text == "stranger":
            text, who = "/optimize", "eve"
        if text == "under one of the bot":
            text = "/optimize status"
            made = self.rng.choice(others) if others else made
        if text == "/optimize cancel":
            self.cancelled.add(made.head)
        if text.startswith("/ignore"):
            self.ignored[folder] = max((m.number for m in self.bots("all")), default=0)
        elif text.startswith("/unignore"):
            self.ignored.pop(folder, None)
            self._last = "unignore "
        return self._comment(made.number, text, who)

    def _comment(self, number: int, text: str, who: str = "alice") -> list[Event]:
        made = self.view(who).comment(number, text)
        self._last += f"{number} {text!r} by {who}"
        if text.startswith("/") and not text.startswith("/optimise"):
            self.said.append(Said(number, made.id, text))
        return [
            self.event(
                kind="comment",
                action="created",
                number=number,
                comment_id=made.id,
                text=text,
                sender=who,
                at=made.created_at,
            )
        ]

    def write_in_dashboard(self) -> list[Event]:
        if not self.server.issues.begun:
            return []
        number, text = next(iter(self.server.issues.begun)), f"/optimize op={self.any()}"
        made = self.server.issues.say(number, "alice", text)
        self.said.append(Said(number, made.id, text, issue=True))
        self._last = f"{number} {text!r}"
        return [
            self.event(
                kind="issue",
                action="created",
                number=number,
                comment_id=made.id,
                text=text,
                sender="alice",
                at=made.created_at,
            )
        ]

    # What they do with the bot's

    def _bots(self) -> MergeRequest | None:
        found = [m for m in self.bots() if self.operator(m) not in self.taken]
        return self.rng.choice(found) if found else None

    def merge_bots(self) -> list[Event]:
        made = self._bots()
        return [] if made is None else self._merged(made)

    def close_bots(self) -> list[Event]:
        made = self._bots()
        if made is None:
            return []
        self.noes[self.operator(made)] = made.number
        self._last = f"{made.number} {self.operator(made)}"
        return [self._of_request(self.view().close(made.number), "closed")]

    def delete_bots(self) -> list[Event]:
        """Forges close what has no branch any more."""
        made = self._bots()
        if made is None:
            return []
        self.noes[self.operator(made)] = made.number
        git(self.checkout, "push", "-q", "origin", "--delete", made.source_branch)
        self._last = f"{made.number} {self.operator(made)}"
        return [self._of_request(self.view().merge_request(made.number), "closed")]

    def commit_on_bots(self) -> list[Event]:
        return self._taken_over("commit", "-q", "--allow-empty", "-m", "Better comment")

    def amend_bots(self) -> list[Event]:
        return self._taken_over("commit", "-q", "--amend", "--no-edit", "-a")

    def _taken_over(self, *words: str) -> list[Event]:
        made = self._bots()
        if made is None:
            return []
        folder = self.operator(made)
        self.taken.add(folder)
        self.update(made.source_branch)
        path = f"{folder}/{kernel(folder)}"
        written(self.checkout, {path: self.text(path, made.source_branch) + "// by hand\n"})
        git(self.checkout, *words)
        git(self.checkout, "push", "-q", "--force", "origin", f"HEAD:{made.source_branch}")
        self._last = f"{made.number} {folder}"
        return [self._of_request(self.view().merge_request(made.number), "updated")]

    def revert(self) -> list[Event]:
        """Somebody takes back the last change of the bot that was merged: it is a no, too."""
        merged = [m for m in self.bots("merged") if m.target_branch == "main"]
        if not merged:
            return []
        made = merged[-1]
        folder = self.operator(made)
        path = f"{folder}/{host(folder)}"
        if "TILE = 8192" not in self.text(path):
            return []
        self.noes[folder] = made.number
        old = git(self.checkout, "show", f"{made.head}^:{path}") + "\n"
        return self.push({path: old}, "Revert")
