"""Facts that doctor and the documentation tell: headers, models, prices, instructions."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from ci.model.settings import ONE_AT_A_TIME

if TYPE_CHECKING:
    from ci.model.frozen import Frozen
    from ci.proposer.llm.prices import PriceTable
    from ci.proposer.llm.settings import ModelSettings


def asc_headers(option: str) -> str:
    """The real AscendC headers that are named, and where; '' for our own. Raises InputError."""
    from ci.host.door.header_tree import chosen_headers, find_header_tree

    root = chosen_headers(option)
    if root is None:
        return ""
    tree = find_header_tree(root)
    return f"{tree.name} in {tree.api}"


def compiler() -> str:
    """The C++ compiler that builds for the simulator, its version and its machine.

    Raises EnvironmentProblem when there is none.
    """
    from ci.system.compiler import compiler_version

    return compiler_version()


def sandbox_level() -> str:
    """The strongest level of the sandbox that works on this machine."""
    from ci.system.sandbox import sandbox_level

    return sandbox_level()


def belongs(file: Path, top: Path) -> bool:
    """Whether a file of the checkout `top` is its own: not hidden, linked or mounted there."""
    from ci.source.readable_files import within

    return within(file, top)


def files_are_closed(backend: str = "sim") -> bool:
    """Whether code that `backend` runs can open nothing but what it is granted.

    What runs with a toolkit needs sockets between its programs; only namespaces keep these from
    leading out.
    """
    if backend in ONE_AT_A_TIME:
        return sandbox_level() == "bubblewrap"
    return sandbox_level() != "limits"


class Equipment(NamedTuple):
    """What is there, in words, and what it lacks; '' for nothing."""

    words: str
    lacks: str


def toolkit(home: Path) -> Equipment:
    """The toolkit in a folder, and which backends it serves."""
    from ci.backend.cann.toolkit import toolkit_in
    from ci.model.errors import EnvironmentProblem

    try:
        found = toolkit_in(home)
    except EnvironmentProblem as problem:
        return Equipment(str(home), str(problem))
    chips = [path.name for path in sorted((home / "tools/simulator").glob("Ascend*"))]
    simulates = f"simulates {', '.join(chips)} (--backend camodel)" if chips else "no simulator"
    builds = "" if found.set_env else ", no set_env.sh: only --backend cann-direct"
    profiler = " ".join([Path(found.profiler[0]).name, *found.profiler[1:]])
    return Equipment(f"CANN {found.cann} in {home}: {profiler}, {simulates}{builds}", "")


def npus() -> Equipment:
    """The devices that the driver names, their health and clocks, and which is ours."""
    from ci.backend.cann.npu import LEASE, leased_device, npu_smi, read_clock, read_npus
    from ci.model.errors import EnvironmentProblem, InputError

    try:
        found, ours = read_npus(npu_smi()), leased_device()
    except (EnvironmentProblem, InputError) as problem:
        return Equipment("", str(problem))
    words = []
    for number, one in enumerate(found):
        clock = read_clock(npu_smi("-t", "common", "-i", str(one.number)))
        mhz = f", {clock[0]} of {clock[1]} MHz" if clock else ""
        words.append(f"{number} is a {one.chip} ({one.health}{mhz})")
    if ours >= len(found):
        return Equipment(", ".join(words), f"{LEASE} names device {ours}, which is not there")
    return Equipment(f"{', '.join(words)}; {ours} is used", "")


@dataclass(frozen=True)
class Roles:
    """Who fills the roles of `--proposer llm`."""

    by_model: dict[str, list[str]]
    """Roles by model, its host and whether its key is missing, in words."""
    by_rules: list[str]
    faults: list[str]
    """The faults of models that were asked and did not answer."""


def roles(models: Path | None, *, ask: bool = False) -> Roles:
    """Who fills which role; `ask` sends each model one tiny request, else nothing is sent.

    Raises InputError when `models` cannot be used.
    """
    from ci.proposer.llm.settings import CREATION, ROLES, load_models

    chosen = load_models(models)
    by_model: dict[str, list[str]] = {}
    by_rules: list[str] = []
    for role in (*ROLES, CREATION):
        one = chosen.of(role)
        if one is None:
            by_rules.append(role)
            continue
        keyed = "" if one.secret() is not None else f", ${one.key} not set"
        by_model.setdefault(f"{one.model} at {one.host}{keyed}", []).append(role)
    faults = [said for one in chosen.in_use() if (said := _fault(one))] if ask else []
    return Roles(by_model, by_rules, faults)


def _fault(model: ModelSettings) -> str:
    """What is wrong with a model that is asked for one word; '' when it answers."""
    from ci.proposer.llm.chat import ChatFailure, Message
    from ci.proposer.llm.endpoint import EndpointChat

    asked = model.model_copy(update={"max_tokens": min(model.max_tokens, 64)})
    try:
        EndpointChat(asked).complete((Message(role="user", content="Answer with OK."),), None)
    except ChatFailure as problem:
        return str(problem)
    return ""


class ModelsFile(NamedTuple):
    """The fields of a models file, and the prices that are known without one."""

    roles: tuple[str, ...]
    model: type[Frozen]
    price: type[Frozen]
    agent: type[Frozen]
    known: PriceTable


def models_file() -> ModelsFile:
    """The fields of a models file, for its page."""
    from ci.proposer.llm.prices import load_prices
    from ci.proposer.llm.settings import CREATION, ROLES, AgentSettings, ModelSettings, Price

    roles = (*ROLES, CREATION, "embedding")
    return ModelsFile(roles, ModelSettings, Price, AgentSettings, load_prices())


def gates() -> list[tuple[str, str, str]]:
    """Name, phase and purpose of each gate that a candidate passes, in the order asked."""
    import inspect
    import sys

    from ci.judge.gates import GATES

    docs = ((gate, sys.modules[type(gate).__module__].__doc__ or "") for gate in GATES)
    return [(gate.name, gate.phase, inspect.cleandoc(doc).partition("\n")[0]) for gate, doc in docs]


def machine_card(device: str) -> str:
    """The chip in a few lines: cores, memories, and the price of launches and copies."""
    from ci.proposer.llm.machine_card import card, chip_of

    return card(device, chip_of(device))
