"""An operator ⟨T, K, S⟩ as in a repository: where its sources are and what it declares.

This is the data; `find_operators` and `load_operator` are in `ci/source/discovery.py`.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Literal

from pydantic import Field

from ci.model.frozen import Frozen
from ci.model.regular_file import file_bytes, file_text


class TensorSpec(Frozen):
    """A declared input or output of the op definition."""

    name: str
    param_type: Literal["required", "optional", "dynamic"] = "required"
    dtypes: tuple[str, ...] = Field(
        description="numpy-like names, one a dtype column: float32, float16, bfloat16, int8 …"
    )
    formats: tuple[str, ...] = ()
    scalar: bool = Field(default=False, description="Declared .Scalar() or .ScalarList().")
    value_depend: bool = False
    shape_depends: bool = Field(
        default=False,
        description="Declared .OutputShapeDependOnCompute(): the kernel tells the output's shape.",
    )
    in_place: bool = Field(
        default=False,
        description="Not in the definition: an input that the kernel updates, judged as an output.",
    )


class AttrSpec(Frozen):
    """A declared attribute."""

    name: str
    type: Literal["int", "float", "bool", "string", "list_int", "list_float", "list_bool"]
    required: bool = True
    default: int | float | bool | str | tuple[int, ...] | tuple[float, ...] | None = None


class SharedSource(Frozen):
    """A source that lies elsewhere than its name says: outside the operator's folder, where other
    operators take it too, or in a folder that is not called op_host or op_kernel."""

    name: str = Field(description="op_host or op_kernel, and the path below.")
    path: str = Field(description="From the repository's top, or from `root` outside of one.")
    own: bool = Field(default=False, description="Whether it is this operator's alone.")


class WrittenSource(Frozen):
    """A source that no repository holds, with marks for the numbers of its launch."""

    name: str
    text: str

    def filled(self, values: Mapping[int, int]) -> str:
        """The text with numbers, by where they start, in the places of their marks."""
        text = self.text
        for start, value in values.items():
            text = text.replace(LaunchNumber.stands_for(start), str(value))
        return text


class LaunchNumber(Frozen):
    """A whole number in what a workload says of a launch, which a search may change."""

    name: str = Field(description="As reports call it, such as launch.blocks.")
    start: int = Field(description="First index in the workload's text.")
    end: int
    value: int
    blocks: bool = Field(description="Whether it decides the number of blocks.")

    @staticmethod
    def stands_for(start: int) -> str:
        """Return the placeholder of the number that starts there in a `WrittenSource`."""
        return f"@{start}@"


class LaunchText(Frozen):
    """The text that says how a program launches a kernel, and the numbers in it."""

    source: str = Field(description="Its name among the operator's sources.")
    text: str
    numbers: tuple[LaunchNumber, ...] = Field(default=(), description="In the text's order.")

    def values(self, text: str) -> dict[int, int] | None:
        """The numbers of a changed text, by where they start in this one; None where it differs in
        anything else."""
        pattern, done = "", 0
        for number in self.numbers:
            pattern += re.escape(self.text[done : number.start]) + r"(\d{1,18})"
            done = number.end
        found = re.fullmatch(pattern + re.escape(self.text[done:]), text)
        if found is None:
            return None
        starts = [number.start for number in self.numbers]
        return dict(zip(starts, map(int, found.groups()), strict=True))


class BuildFact(Frozen):
    """One thing that holds for an operator's compilation, and who says so."""

    fact: str = Field(description="'include csrc/utils', 'option -DWIDE=1', 'auto_sync off'.")
    said_by: str = Field(
        description="'file:line' of the build, a target of it, .ascendopt.yml, or what is taken"
        " where nothing does: the repository's tree, the toolkit's default."
    )


class Operator(Frozen):
    """Sources and declaration of one operator.

    Sources are named by their paths relative to `root`, shared ones as `SharedSource` says.
    """

    name: str = Field(
        description="Its folder's name; its kernel's where that holds several, or is the checkout,"
        " which anybody calls as they like."
    )
    op_type: str = Field(description="Registered type, such as AddCustom.")
    category: str = ""
    root: Path = Field(
        description="The folder that holds op_host and op_kernel, else the innermost one that holds"
        " both definition and kernel."
    )
    shares_folder: bool = Field(
        default=False, description="Whether that folder holds other operators as well."
    )
    repository: Path | None = Field(default=None, description="Top of the git checkout, if any.")
    layout: Literal["cann-ops", "ops-math"]
    host_sources: tuple[str, ...] = Field(description="op_host .cpp/.h, tiling and definition.")
    kernel_sources: tuple[str, ...] = Field(description="op_kernel .cpp/.h")
    definition_source: str = Field(description="The host file that declares the OpDef.")
    tiling_sources: tuple[str, ...] = Field(description="Host files with the tiling function.")
    tiling_functions: tuple[str, ...] = ()
    kernel_entry: str = Field(description="The op_kernel .cpp that defines the global kernel.")
    inputs: tuple[TensorSpec, ...]
    outputs: tuple[TensorSpec, ...]
    attrs: tuple[AttrSpec, ...] = ()
    socs: tuple[str, ...] = ()
    auto_sync: bool = Field(
        default=True,
        description="Built with --cce-auto-sync on the chip that we know; not where that is open.",
    )
    auto_sync_open: bool = Field(
        default=False,
        description="The build could not be read so far that this is known: judged both ways.",
    )
    auto_sync_said_by: str = Field(
        default="", description="'file:line' of the build, or what decides where it says nothing."
    )
    compile_options: tuple[str, ...] = Field(
        default=(), description="Of the kernel, without include folders and warnings."
    )
    include_folders: tuple[Path, ...] = Field(
        default=(), description="Folders of the repository that its build includes from."
    )
    tree_folders: tuple[Path, ...] = Field(
        default=(),
        description="Folders that the build does not name and the sources include from, met after"
        " all others.",
    )
    build_facts: tuple[BuildFact, ...] = Field(
        default=(), description="Where each of these comes from, in words."
    )
    shared_host_sources: tuple[Path, ...] = Field(
        default=(),
        description="Host sources outside the operator's folder that its build lists and that"
        " decide nothing.",
    )
    shared_sources: tuple[SharedSource, ...] = Field(
        default=(),
        description="Those of host_sources and kernel_sources that others take too, or that lie in"
        " folders of other names.",
    )
    written: tuple[WrittenSource, ...] = Field(
        default=(),
        description="Sources that we write: definition, tiling and entry of a kernel that"
        " a program launches. A candidate changes their numbers alone, in `launch`.",
    )
    launch: LaunchText | None = Field(
        default=None, description="The workload of a kernel that a program launches."
    )

    @property
    def place(self) -> Path:
        """Return its folder, or, where several share one, a path of its name in there."""
        return self.root / self.name if self.shares_folder else self.root

    @property
    def shared_folders(self) -> tuple[Path, ...]:
        """All folders outside of its own that its sources may include from."""
        return (*self.include_folders, *self.tree_folders)

    @property
    def auto_sync_word(self) -> Literal["on", "off", "open"]:
        """Automatic synchronisation in a word."""
        return "open" if self.auto_sync_open else "on" if self.auto_sync else "off"

    @property
    def definitions(self) -> tuple[str, ...]:
        """`NAME` or `NAME=value` of each -D among the compile options."""
        return tuple(o[2:] for o in self.compile_options if o.startswith("-D"))

    @property
    def declared_tensors(self) -> int:
        """Tensors of the definition, and so of the kernel's parameters."""
        return len(self.inputs) + sum(not spec.in_place for spec in self.outputs)

    @property
    def first_dtype(self) -> str:
        """The first dtype of the first input, '' where the definition names none."""
        return next((dtype for spec in self.inputs[:1] for dtype in spec.dtypes), "")

    @property
    def tells_output_shape(self) -> bool:
        """Whether the kernel gets a place for the shapes of its outputs."""
        return any(spec.shape_depends for spec in self.outputs)

    @property
    def sources(self) -> tuple[str, ...]:
        """All that a candidate may change, host first."""
        return (*self.host_sources, *self.kernel_sources)

    @property
    def written_texts(self) -> dict[str, str]:
        """Texts of the sources that we write, by name, for the launch as it is."""
        return self._written("" if self.launch is None else self.launch.text)

    def _written(self, launch: str) -> dict[str, str]:
        """The same for a launch that says so; one that cannot be read changes nothing."""
        if self.launch is None:
            return {}
        as_it_is = {number.start: number.value for number in self.launch.numbers}
        values = self.launch.values(launch) or as_it_is
        return {one.name: one.filled(values) for one in self.written}

    @property
    def shared_paths(self) -> dict[str, str]:
        """Paths of the shared sources from the repository's top, by name."""
        return {one.name: one.path for one in self.shared_sources}

    @property
    def laid_elsewhere(self) -> bool:
        """Whether its sources lie in folders of other names than op_host and op_kernel."""
        return self.seen_from_folder(self.kernel_entry) != self.kernel_entry

    def path(self, source: str) -> Path:
        """Where one of the sources lies."""
        shared = self.shared_paths.get(source)
        return self.root / source if shared is None else self._top / shared

    def repository_path(self, source: str) -> str:
        """Path of one of the sources from the repository's top, or from `root` outside of one."""
        shared = self.shared_paths.get(source)
        if shared is not None or self.repository is None:
            return shared or source
        root = self.root.resolve().relative_to(self.repository.resolve())
        return (root / source).as_posix()

    def seen_from_folder(self, source: str) -> str:
        """Path of one of the sources, or of a header that they include, from `root`; it leads out
        of it for a shared one."""
        path = self.path(source)
        if not path.is_file():  # a header of another folder of this name
            held = (folder.parent / source for folder in self.shared_folders)
            path = next((one for one in held if one.is_file()), path)
        return Path(os.path.relpath(path, self.root)).as_posix() if source else ""

    @property
    def _top(self) -> Path:
        return self.repository or self.root

    @property
    def _inside(self) -> Path:
        """The real folder that each source must lie in."""
        return (self.repository or self.root).resolve()

    def read(self, source: str) -> str:
        """Text of one of the sources, by its name."""
        if source in self.written_texts:
            return self.written_texts[source]
        return file_text(self.path(source), self._inside)

    def raw(self, source: str) -> bytes:
        """Bytes of one of the sources, by its name."""
        if source in self.written_texts:
            return self.written_texts[source].encode()
        return file_bytes(self.path(source), self._inside)

    def texts(self, files: dict[str, str] | None = None) -> dict[str, str]:
        """All own sources by relative path, overlaid with a candidate's changed `files`."""
        given, inside = files or {}, self._inside
        own = {s: given[s] if s in given else file_text(self.path(s), inside) for s in self.sources}
        launch = "" if self.launch is None else own[self.launch.source]
        return self._written(launch) | own | given
