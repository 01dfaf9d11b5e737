"""Builds what the simulator runs: the machine and its precompiled headers once, candidates often.

Everything is cached on disk by content (`ci/system/cache.py`), so that an unchanged tiling or
kernel is never compiled again, in this run or the next.
"""

from __future__ import annotations

import os
import platform
import shutil
import threading
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import cached_property, lru_cache, partial
from pathlib import Path, PurePosixPath
from typing import Final, Literal, TypeAlias

from ci.host.door import FrontDoor, own_headers
from ci.host.door.other_chips import of_other_chips
from ci.host.door.tiling_library import uses_library
from ci.host.host_command import (
    HOST,
    OWN_LIBRARY,
    RUNTIME_FLAGS,
    host_arguments,
    prelude_arguments,
    prelude_texts,
    runtime_sources,
)
from ci.host.host_library import library_archive, library_prelude
from ci.host.kernel_unit import (
    KernelVariant,
    header_texts,
    selecting_keys,
    translation_unit,
)
from ci.host.source_tree import (
    include_arguments,
    lay,
    lay_operator,
    neighbours,
    place_of,
    shared_host_folders,
)
from ci.model import layout
from ci.model.errors import TrialFailure
from ci.model.layout import SOURCES
from ci.model.operator import Operator
from ci.simulator import older_compiler
from ci.simulator.architecture_header import NAME as ARCHITECTURE_HEADER
from ci.simulator.architecture_header import header_text
from ci.simulator.checked_text import (
    cast_texts,
    checked_texts,
    computed_texts,
    host_texts,
)
from ci.simulator.stepped_text import stepped_texts
from ci.simulator.watched_text import watched_texts
from ci.source.device_half import (
    device_half,
    without_attributes,
    without_host_definitions_at,
    without_launches,
)
from ci.source.missing_header import advice
from ci.system.cache import BuildCache, digest, digest_tree
from ci.system.compile_room import Compilation, CompileRooms
from ci.system.compiler import WARNINGS, compile_trusted, compiler_version
from ci.system.read_once import once
from ci.system.sandbox import nothing
from ci.system.startable import copy_startable
from rules.architectures import Architecture
from rules.guards import priced_symbols

HERE = Path(__file__).parent
MACHINE = HERE / "machine"

BASELINE_ISA = {
    # AVX2 and conversion of fp16: without it fp16 runs four times slower than fp32.
    "x86_64": ("-march=x86-64-v3", "-mf16c"),
    "aarch64": ("-march=armv8-a", "-fsigned-char"),
}.get(platform.machine(), ())
"""What every processor of this kind knows that can run the machine."""

MACHINE_FLAGS = (
    "-std=c++17", "-O2", "-g1", *BASELINE_ISA, "-fno-strict-aliasing",
    # A product and a sum are rounded apart on every computer, unless a source says fma.
    "-ffp-contract=off",
    *WARNINGS,
)  # fmt: skip

KERNEL_FLAGS = (
    "-std=c++17", "-O1", "-g1", "-fPIC", *BASELINE_ISA, "-fno-strict-aliasing",
    "-ffp-contract=off", "-fvisibility=hidden", "-Werror=vla",
    # What copies bytes is a call that the machine sees; inline it would be free and unchecked.
    "-fno-builtin-memcpy", "-fno-builtin-memmove", "-fno-builtin-memset", "-fno-builtin-memcmp",
    *(("-mstringop-strategy=libcall",) if platform.machine() == "x86_64" else ()),
    # A division by zero traps on x86-64; elsewhere a hook reports it.
    *(("-fsanitize=integer-divide-by-zero",) if platform.machine() != "x86_64" else ()),
    # Hooks for the scalar unit: its clock counts basic blocks, and every load and store of the
    # kernel's own code is shown to the machine, which checks and charges those to GM and UB.
    "-fsanitize-coverage=trace-pc",
    "-fsanitize=thread", "--param=tsan-instrument-func-entry-exit=0",
)  # fmt: skip

Flavour: TypeAlias = Literal["plain", "watched", "pattern", "checked", "buffers"]
"""How sources are built: `plain` for launches that count, `watched` to see every comparison,
`pattern` with other bytes in locals that nobody sets, launched on tensors at other addresses,
`buffers` with these bytes and with tensors that know their buffers, `checked` with fields and casts
besides that tell what does not fit."""

WATCHED = ("-O0", "-fsanitize-coverage=trace-pc,trace-cmp")
"""Without optimization: a minimum of two numbers is a comparison still."""

BUFFERS = (
    "-ftrivial-auto-var-init=pattern",
    # Both take what a branch did not set for what the other one did.
    "-fno-tree-ccp", "-fno-tree-fre",
    "-DDAV_CHECKED", "-fsanitize=bounds",
)  # fmt: skip

FLAVOURS: Final[Mapping[Flavour, tuple[str, ...]]] = {
    "plain": (),
    "watched": WATCHED,
    "checked": (*BUFFERS, "-DDAV_FIELDS", "-fsanitize=signed-integer-overflow"),
    "buffers": BUFFERS,
    "pattern": ("-ftrivial-auto-var-init=pattern", "-fsanitize=float-cast-overflow,shift"),
}
"""Flags behind those of the plain build; the last one counts."""

CHECKED: Final[tuple[Flavour, ...]] = ("checked", "buffers")
"""Flavours whose launches are checked."""

CORE_KINDS: Final = ("vector", "cube")
"""A kernel for both is built twice."""

KERNEL_LINK = (
    "-shared", "-Wl,-z,now", "-Wl,--wrap=memcpy,--wrap=memmove,--wrap=memset",
    "-Wl," + ",".join(f"--wrap={name}" for name in priced_symbols()),
    "-nodefaultlibs", "-o", "kernel.so", "-lgcc",
)  # fmt: skip
"""Links without libraries: the machine has what a kernel may use of them, the hooks of the
instrumentation among it. Looking them up would take the linker six times as long."""


class Toolchain:
    """The compiler with our headers and machine. Safe to share between threads."""

    def __init__(
        self,
        architecture: Architecture,
        cache: BuildCache | None = None,
        door: FrontDoor | None = None,
    ) -> None:
        self.architecture = architecture
        self.cache = cache or BuildCache()
        self.door = door or own_headers()
        self.cache.trim_hourly()
        self._refused: dict[str, TrialFailure] = {}
        # Some operators have hundreds of such folders, and each compilation asks for all.
        self._shared_digests: dict[tuple[Path, tuple[str, ...]], str] = {}
        self._lock = threading.Lock()
        self._rooms = CompileRooms()

    @cached_property
    def version(self) -> str:
        """12 hex digits over the machine's and headers' sources, flags and compiler: two equal
        ones give equal cycles."""
        return digest(
            [
                compiler_version(),
                *MACHINE_FLAGS,
                *KERNEL_FLAGS,
                self.architecture.model_dump_json(),
                self._machine_sources,
                self.door.digest,
            ]
        )[:12]

    @cached_property
    def _machine_sources(self) -> str:
        return digest([digest_tree(MACHINE, SOURCES), _decisions()])

    @cached_property
    def _machine_headers(self) -> str:
        return digest([digest_tree(MACHINE, (".h",)), _decisions()])

    @cached_property
    def _host_headers(self) -> str:
        return digest([digest_tree(HOST, SOURCES), str(prelude_texts())])

    @cached_property
    def _architecture_folder(self) -> Path:
        """Where the header of the architecture lies; another text has another place."""
        text = header_text(self.architecture)
        return self.cache.get(
            "architecture", digest([text]), lambda folder: lay(folder, {ARCHITECTURE_HEADER: text})
        )

    @property
    def machine_flags(self) -> tuple[str, ...]:
        """What sources of the machine are compiled with."""
        return (*MACHINE_FLAGS, f"-I{MACHINE}", f"-I{self._architecture_folder}")

    def kernel_flags(self, core: str, flavour: Flavour = "plain") -> tuple[str, ...]:
        """What kernels are compiled with for a kind of core."""
        macros = self.architecture.macros
        given = (*macros.both, *(macros.vector if core == "vector" else macros.cube))
        words = [f"-D{macro}" for macro in given]
        return (*KERNEL_FLAGS, *words, f"-I{self._architecture_folder}", *FLAVOURS[flavour])

    def prepare(self, flavours: Sequence[Flavour] = ("plain",)) -> None:
        """Build what every vector operator needs, once: processes that begin together would each
        build it at the same time, and who limits an operator's time would count it."""
        _ = self.machine_runner, self.host_prelude, self.host_runtime
        for flavour in flavours:
            self.kernel_prefix(flavour=flavour)

    @cached_property
    def machine_runner(self) -> Path:
        """The machine's program; built on first use, about a minute on two cores.

        Raises EnvironmentProblem when it does not build here.
        """
        flags = (*MACHINE_FLAGS, str(self._architecture_folder))
        key = digest([compiler_version(), *flags, self._machine_sources])
        return self.cache.get("machine", key, self._build_machine) / "machine_runner"

    def machine_object(self, source: Path) -> Path:
        """The object file of one of the machine's sources.

        Raises EnvironmentProblem when it does not build here.
        """
        flags = (*MACHINE_FLAGS, f"-I{self._architecture_folder}")
        return self._object(source, flags, MACHINE, self._machine_headers)

    def machine_objects(self, sources: Sequence[Path]) -> list[Path]:
        """Object files of several sources, built side by side."""
        with ThreadPoolExecutor(max_workers=min(4, os.cpu_count() or 1)) as pool:
            return list(pool.map(self.machine_object, sources))

    def _build_machine(self, folder: Path) -> None:
        objects = self.machine_objects(sorted(MACHINE.glob("*.cpp")))
        compile_trusted(
            ["-rdynamic", *map(str, objects), "-o", "machine_runner", "-ldl", "-lpthread"], folder
        )

    def kernel_prefix(self, core: str = "vector", flavour: Flavour = "plain") -> Path:
        """Folder of `prefix.h`, which includes the door's headers, and its compiled form."""
        flags = self.kernel_flags(core, flavour)
        door = self.door
        parts = [door.prefix, *door.arguments(), door.digest]
        key = digest([compiler_version(), *flags, *parts])

        def make(folder: Path) -> None:
            lay(folder, {**door.generated, "prefix.h": door.prefix})
            includes = [*door.arguments(), "-I."]
            compile_trusted([*flags, *includes, "-x", "c++-header", "prefix.h"], folder)

        return self.cache.get("kernel_prefix", key, make)

    def compile_kernel(
        self,
        operator: Operator,
        texts: Mapping[str, str],
        variant: KernelVariant,
        core: str = "vector",
        meanwhile: Callable[[], object] = nothing,
        *,
        flavour: Flavour = "plain",
    ) -> Path:
        """Compile one kernel variant for a kind of core; answers the path of `kernel.so`.

        `texts` are all sources of the operator by relative path, a candidate's included.
        `meanwhile` is called while there is something to compile.
        Raises TrialFailure(COMPILE_ERROR).
        """
        if flavour == "watched":
            for made in _watched(operator, texts):
                with suppress(TrialFailure):  # a choice, or a step, of what is no number
                    return self._kernel(operator, made, variant, core, meanwhile, flavour)
        if flavour == "checked":
            for changed in (checked_texts, computed_texts, cast_texts):
                with suppress(TrialFailure):  # it needs the number's own type
                    return self._kernel(operator, changed(texts), variant, core, meanwhile, flavour)
            flavour = "buffers"
        return self._kernel(operator, texts, variant, core, meanwhile, flavour)

    def _kernel(
        self,
        operator: Operator,
        texts: Mapping[str, str],
        variant: KernelVariant,
        core: str,
        meanwhile: Callable[[], object],
        flavour: Flavour,
    ) -> Path:
        prefix = self.kernel_prefix(core, flavour)
        laid = kernel_texts(operator, texts, variant.refused_at)
        unit = translation_unit(operator, variant, texts[operator.kernel_entry])
        headers = header_texts(variant)

        around = operator.shared_folders if variant.newer_language else ()

        def arguments(place: Path | None) -> list[str]:
            return [
                *self.kernel_flags(core, flavour),
                *(older_compiler.FLAGS if variant.newer_language else ()),
                *(("-fpermissive",) if variant.changes_meaning else ()),
                *(f"-D{one}" for one in operator.definitions),
                *("-I.", "-Iop_kernel"),
                *older_compiler.with_copies(include_arguments(operator, place), around, self.cache),
                *self.door.arguments(),
                f"-I{prefix}",
                "-include",
                str(prefix / "prefix.h"),
                "kernel_unit.cpp",
                *KERNEL_LINK,
            ]

        key = digest(
            [
                compiler_version(),
                *arguments(None),  # the prefix's path among them stands for the headers
                unit,
                *(part for header in headers.items() for part in header),
                *self._shared(operator, texts),
                *_parts(operator, laid),
            ]
        )

        readable = [*self.door.readable, prefix, self._architecture_folder]
        asked = Compilation(
            place_of(operator),
            lambda top: [*_named(top, operator, layout.KERNEL), *arguments(top)],
            [*readable, *operator.shared_folders, *older_compiler.copies_of(around, self.cache)],
        )

        def make(folder: Path) -> None:
            with self._rooms.take(asked) as room:
                lay_operator(room.top, operator, laid)
                if variant.newer_language:
                    older_compiler.rewrite(room.top)
                lay(room.place, {**headers, "kernel_unit.cpp": unit})
                room.compile("kernel", layout.KERNEL, lambda: self._beside(asked, meanwhile))
                shutil.copy(room.place / "kernel.so", folder)

        return self._built("kernel", key, make, operator) / "kernel.so"

    @cached_property
    def host_prelude(self) -> Path:
        """Folder of the host side's precompiled header."""
        key = digest([compiler_version(), *prelude_arguments(), self._host_headers])

        def make(folder: Path) -> None:
            lay(folder, prelude_texts())
            compile_trusted(prelude_arguments(), folder)

        return self.cache.get("host_prelude", key, make)

    @cached_property
    def host_runtime(self) -> tuple[Path, ...]:
        """Object files of the host side's runtime."""
        return self._runtime()

    @cached_property
    def host_library(self) -> tuple[Path, ...]:
        """The same for a program with a `main` of its own."""
        return self._runtime(("main.cpp",))

    def _runtime(self, without: Sequence[str] = ()) -> tuple[Path, ...]:
        sources = [path for path in runtime_sources() if path.name not in without]
        return tuple(
            self._object(path, RUNTIME_FLAGS, HOST, self._host_headers) for path in sources
        )

    def compile_host(
        self,
        operator: Operator,
        texts: Mapping[str, str],
        meanwhile: Callable[[], object] = nothing,
        *,
        flavour: Flavour = "plain",
    ) -> Path:
        """Compile the host side; answers the path of the program that runs the tiling.

        `meanwhile` is called while there is something to compile.
        Raises TrialFailure(COMPILE_ERROR).
        """
        if flavour == "watched":
            for made in _watched(operator, texts):
                with suppress(TrialFailure):
                    return self._host(operator, made, meanwhile, flavour)
        if flavour == "checked":
            with suppress(TrialFailure):
                return self._host(operator, host_texts(texts), meanwhile, flavour)
        try:
            return self._host(operator, texts, meanwhile, flavour)
        except TrialFailure as stopped:
            if "in expansion of macro 'ASCENDC_TPL" not in stopped.refusal.evidence:
                raise
            return self._host(
                operator, texts, meanwhile, flavour, ("-DASCENDOPT_SELECTIONS_UNREAD",)
            )

    def _host(
        self,
        operator: Operator,
        texts: Mapping[str, str],
        meanwhile: Callable[[], object],
        flavour: Flavour,
        more: Sequence[str] = (),
    ) -> Path:
        hosts = [t for f, t in texts.items() if f.startswith("op_host/")]
        library = self.door.tiling if uses_library(hosts) else None
        prelude, runtime = self.host_prelude, self.host_runtime
        if library is not None:
            prelude = library_prelude(library, self.cache, self._host_headers)
            archive = library_archive(library, self.cache, self._host_headers)
            runtime = (*self._runtime(OWN_LIBRARY), archive)

        def arguments(laid: Path | None) -> list[str]:
            asked = host_arguments(operator, texts, prelude, runtime, library, laid)
            return [*asked, *FLAVOURS[flavour], *more]

        shared = [path.read_bytes() for path in operator.shared_host_sources]
        # Kernel sources are laid too, because some tilings include their constants from them;
        # they count only for those.
        laid = {f: t for f, t in texts.items() if f.startswith("op_host/")}
        kernel = {PurePosixPath(f).name for f in texts.keys() - laid.keys()}
        included = {PurePosixPath(n).name for t in hosts for n in layout.included(t)}
        if not kernel.isdisjoint(included) or any("op_kernel" in text for text in hosts):
            laid = dict(texts)
        key = digest(
            [
                compiler_version(),
                *arguments(None),  # the paths of prelude and runtime stand for their texts
                *shared,
                *self._shared(operator, texts),
                *_parts(operator, laid),
            ]
        )

        readable = [HOST, prelude, *operator.shared_folders, *runtime]
        readable += self.door.readable if library else ()
        readable += sorted(shared_host_folders(operator))
        output = ("-o", "host_program")
        asked = Compilation(
            place_of(operator),
            lambda top: [*_named(top, operator, layout.HOST), *arguments(top), *output],
            readable,
        )

        def make(folder: Path) -> None:
            with self._rooms.take(asked) as room:
                lay_operator(room.top, operator, laid)
                room.compile("host tiling", layout.HOST, lambda: self._beside(asked, meanwhile))
                copy_startable(room.place / "host_program", folder / "host_program")

        return self._built("host", key, make, operator) / "host_program"

    def _beside(self, asked: Compilation, meanwhile: Callable[[], object]) -> None:
        """What is done while a compiler works: the sandbox of the next one, and what else is to."""
        meanwhile()
        self._rooms.prepare(asked)

    def _built(self, kind: str, key: str, make: Callable[[Path], None], operator: Operator) -> Path:
        """The cached entry; what the compiler refused once is refused again without asking it.

        That is remembered as long as the toolchain is: every case of a workload asks for the same.
        """
        if key in self._refused:
            known = self._refused[key]
            raise TrialFailure(known.outcome, known.refusal)
        try:
            return self.cache.get(kind, key, make)
        except TrialFailure as failure:
            said = failure.refusal.sentence
            told = (
                {"sentence": f"{said.rstrip('.')}.{more}"}
                if (more := advice(operator, said) or of_other_chips(said))
                else {}
            )
            refusal = failure.refusal.model_copy(update=told)
            self._refused[key] = TrialFailure(failure.outcome, refusal)
            raise TrialFailure(failure.outcome, refusal) from None

    def _object(self, source: Path, flags: Sequence[str], folder: Path, headers: str) -> Path:
        """Object file of one of our own sources, with the compiler's `warnings` next to it.

        Where the `folder` of its headers lies does not matter: two installations share it.
        """
        key = digest([compiler_version(), *flags, headers, source.name, source.read_bytes()])

        def make(place: Path) -> None:
            said = compile_trusted(
                [*flags, f"-I{folder}", "-c", str(source), "-o", "unit.o"], place
            )
            (place / "warnings").write_text(said)

        return self.cache.get("object", key, make) / "unit.o"

    def _shared(self, operator: Operator, texts: Mapping[str, str]) -> list[str]:
        """What the repository's shared include folders hold, read once a run: sources, and files of
        other endings that `texts` include."""
        spelled = {PurePosixPath(one).suffix for t in texts.values() for one in layout.included(t)}
        endings = (*SOURCES, *sorted(spelled - {"", *SOURCES}))
        asked = [(folder, endings) for folder in operator.shared_folders]
        with self._lock:
            for one in asked:
                if one not in self._shared_digests:
                    read = partial(digest_tree, *one)
                    self._shared_digests[one] = once(("digest", *one), read)
            return [self._shared_digests[one] for one in asked]


def _decisions() -> str:
    """The one header that the machine takes from the host side."""
    return (HOST / "detail" / "decisions.h").read_text(encoding="utf-8")


def _watched(operator: Operator, texts: Mapping[str, str]) -> Iterator[dict[str, str]]:
    """The texts as they are built to be watched, what sees most first."""
    own = operator.texts()
    top = "/" if operator.laid_elsewhere else ""
    around, stepped = (stepped_texts(texts, own.get, top, around=one) for one in (True, False))
    yield watched_texts(around)
    if around != stepped:
        yield watched_texts(stepped)
    if stepped != texts:
        yield watched_texts(texts)


def _parts(operator: Operator, texts: Mapping[str, str]) -> list[str]:
    """Everything that the sources of a compilation are, to be digested."""
    both = [*sorted(texts.items()), *sorted(neighbours(operator, texts).items())]
    return [place_of(operator), *(part for item in both for part in item)]


def kernel_texts(
    operator: Operator, texts: Mapping[str, str], refused_at: Collection[tuple[str, int]] = ()
) -> dict[str, str]:
    """What the kernel's compilation sees: the kernel sources, and the host's if they mention it,
    without what the host defines at `refused_at`.

    Leaving the host sources out keeps a kernel's cache entry valid when only the tiling changes.
    """
    kernel = {f: t for f, t in texts.items() if f.startswith("op_kernel/")}
    kernel = {f: _kernel_text(t, operator.launch is not None) for f, t in kernel.items()}
    for file in {file for file, _ in refused_at} & kernel.keys():
        lines = [line for name, line in refused_at if name == file]
        kernel[file] = without_host_definitions_at(kernel[file], lines)
    if any("op_host" in text for text in kernel.values()):
        return {**{f: t for f, t in texts.items() if f.startswith("op_host/")}, **kernel}
    return kernel


@lru_cache(maxsize=64)
def _kernel_text(text: str, launched: bool) -> str:
    """A source as it is compiled: one that launches holds the host's functions, too."""
    alone = without_launches(text)
    if launched or alone != text:
        alone = without_launches(device_half(text))
    return selecting_keys(without_attributes(alone))


def _named(top: Path, operator: Operator, side: str) -> list[str]:
    """Compiler arguments that name sources as the operator does, shared ones laid below `top`."""
    if operator.laid_elsewhere:  # absolute, or the compilation's folder would come before it
        return [f"-ffile-prefix-map={top}=/{side}", f"-idirafter{top}"]
    names = [f"-ffile-prefix-map={top}={side}"]
    # The last one that fits counts.
    return [*names, f"-ffile-prefix-map={top / place_of(operator)}=."]
