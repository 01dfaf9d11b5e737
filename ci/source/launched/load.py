"""An operator of a kernel that a program launches, read from its workload."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Iterator, Sequence
from pathlib import Path
from typing import Final

from ci.model import layout
from ci.model.errors import InputError
from ci.model.folder_walk import walk
from ci.model.operator import (
    AttrSpec,
    LaunchText,
    Operator,
    SharedSource,
    TensorSpec,
    WrittenSource,
)
from ci.model.regular_file import file_text
from ci.model.yaml_model import MOST_BYTES, Place, YamlFile
from ci.source.build.facts import build_facts, read_build
from ci.source.build.tree import folders_of_tree
from ci.source.launch_places import FILE, says_launch
from ci.source.launched.entry import KernelEntry, entry_in
from ci.source.launched.structures import Structure, structure
from ci.source.launched.texts import Launch, LaunchTexts
from ci.source.sides import repository_of, text_of
from ci.source.workload_model import (
    GivenCase,
    GivenLaunch,
    GivenOutput,
    GivenTensor,
    GivenWorkload,
    as_dtype,
)

_PLAIN: Final = re.compile(r"[A-Za-z0-9._+-]+")
"""A file's name that another source can include as it is."""

_MOST_HEADERS: Final = 200


def is_launched(folder: Path) -> bool:
    """Whether the workload in a folder says how a program launches a kernel."""
    file = folder / FILE
    if not file.is_file() or file.is_symlink():
        return False
    try:
        inside = (repository_of(folder) or folder).resolve()
        return says_launch(file_text(file, inside, most_bytes=MOST_BYTES))
    except (InputError, FileNotFoundError):
        return False


def launched_folders(top: Path) -> list[Path]:
    """Folders at and below `top` whose workload says how a program launches a kernel."""
    found = []
    for place, names, files in walk(top):
        names[:] = sorted(n for n in names if not n.startswith(".") and n not in layout.SKIPPED)
        if FILE in files and is_launched(place):
            found.append(place)
    return found


def launched_operator(folder: Path, top: Path | None = None, said: str | None = None) -> Operator:
    """The operator of a folder for which `is_launched` holds.

    `top`: where its repository begins, for one that git does not tell. `said`: the text of its
    workload, where there is no file yet. Raises InputError with file and line where the workload
    does not fit the kernel.
    """
    folder = folder.resolve()
    repository = repository_of(folder)
    inside = (repository or top or folder).resolve()
    if said is None:
        said = file_text(folder / FILE, inside, most_bytes=MOST_BYTES)
    file = YamlFile(said, str(folder / FILE), most_bytes=MOST_BYTES, aliases=True)
    given = file.read(GivenWorkload)
    if given.launch is None:
        raise file.wrong(("launch",), "says nothing")
    launch = given.launch

    def wrong(place: Place, what: str) -> InputError:
        return file.wrong(("launch", *place), what)

    kernel = Path(os.path.normpath(folder / launch.kernel))
    if not _PLAIN.fullmatch(kernel.name):
        raise wrong(("kernel",), "has a file name of more than letters, digits, . _ + and -")
    if not kernel.is_file():
        raise wrong(("kernel",), f"is '{launch.kernel}', but there is no such file")
    if not kernel.is_relative_to(inside):
        around = "its git checkout" if repository else f"{inside}, which is in no git checkout"
        raise wrong(("kernel",), f"leads to {kernel}, outside of {around}")
    text = text_of(kernel, inside)
    entry = entry_in(kernel, text, launch.entry or "")
    texts = {kernel: text, **_headers(kernel, text, inside)}
    inputs, outputs = _tensors(file, given, launch, [p.name for p in entry.parameters])
    op_type = "".join(part[:1].upper() + part[1:] for part in entry.name.split("_"))
    writing = LaunchTexts(
        Launch(
            given=launch,
            op_type=op_type,
            source=kernel.name,
            entry=entry,
            inputs=inputs,
            outputs=outputs,
            attrs=_attrs(launch),
            structures=dict(_structures(launch, entry, texts.values(), wrong)),
            wrong=wrong,
            span=lambda place: file.span(("launch", *place)),
        )
    )
    written = writing.write()

    def path(source: Path) -> str:
        return source.relative_to(inside).as_posix()

    def placed(side: str, source: Path) -> SharedSource:
        return SharedSource(name=f"{side}/{path(source)}", path=path(source), own=True)

    sources = [placed(layout.KERNEL, source) for source in texts]
    workload = placed(layout.HOST, folder / FILE)
    made = {
        placed(layout.HOST, folder / f"launch_{entry.name}_host.cpp"): written.host,
        placed(layout.KERNEL, kernel.with_name(f"launch_{entry.name}.cpp")): written.kernel,
    }
    host, wrapper = made
    build = read_build(kernel.parent, inside, apart=True, launched=kernel)
    below = {os.path.relpath(source, kernel.parent): text for source, text in texts.items()}
    asking = folders_of_tree(build.tree, below, kernel.parent, build.include_folders)
    compiled = build.options(op_type, (), ())
    return Operator(
        name=folder.name,
        op_type=op_type,
        category=folder.parent.name,
        root=folder,
        repository=repository or inside,
        layout="ops-math",
        host_sources=(workload.name,),
        kernel_sources=tuple(one.name for one in sources),
        definition_source=host.name,
        tiling_sources=(workload.name,),
        kernel_entry=wrapper.name,
        inputs=inputs,
        outputs=outputs,
        attrs=_attrs(launch),
        auto_sync=compiled.sync.on is True,
        auto_sync_open=compiled.sync.on is None,
        auto_sync_said_by=compiled.sync.said_by,
        compile_options=compiled.options,
        include_folders=build.include_folders,
        tree_folders=tuple(asking),
        build_facts=build_facts(build, compiled, asking),
        shared_sources=(workload, *sources, *made),
        launch=LaunchText(source=workload.name, text=said, numbers=writing.numbers),
        written=tuple(WrittenSource(name=one.name, text=text) for one, text in made.items()),
    )


def _structures(
    launch: GivenLaunch,
    entry: KernelEntry,
    texts: Collection[str],
    wrong: Callable[[Place, str], InputError],
) -> Iterator[tuple[str, Structure]]:
    """Parameter and definition of each structure whose fields the kernel gets."""
    for name, one in launch.structs.items():
        parameter = next((p for p in entry.parameters if p.name == name), None)
        if parameter is None:
            raise wrong(("structs", name), f"is no parameter of {entry.name}")
        if one.words and one.fields:
            raise wrong(("structs", name), "has fields and words: one of them says it all")
        if one.words:
            continue  # bytes, whatever they are
        kind = one.type or ("" if parameter.pointer else parameter.type)
        found = structure(kind, texts) if kind else None
        if found is None:
            what = f"has the type {kind}, which the kernel's source and its headers do not define"
            raise wrong(("structs", name), what if kind else "needs a type: a pointer says none")
        yield name, found


def _headers(kernel: Path, text: str, inside: Path) -> dict[Path, str]:
    """The sources that a kernel's source includes from where they lie, directly or not."""

    def find(source: Path, spelled: str) -> Iterator[tuple[Path, str]]:
        path = Path(os.path.normpath(source.parent / spelled))
        if path.is_relative_to(inside) and path.suffix in layout.SOURCES and path.is_file():
            yield path, text_of(path, inside)

    found = layout.closure({kernel: text}, find, _MOST_HEADERS)
    return {path: text for path, text in found.items() if path != kernel}


def _tensors(
    file: YamlFile, given: GivenWorkload, launch: GivenLaunch, parameters: Sequence[str]
) -> tuple[tuple[TensorSpec, ...], tuple[TensorSpec, ...]]:
    """Inputs and outputs in the order of the kernel's parameters, with a column of dtypes for each
    combination of the cases."""
    for name in launch.outputs:
        if name not in parameters:
            raise file.wrong(("launch", "outputs", name), "is no parameter of the kernel")
    taken = {*launch.outputs, *launch.structs, *launch.workspace, *launch.values, *launch.attrs}
    columns: list[dict[str, str]] = []
    names: list[str] = []
    for number, case in enumerate(given.cases):
        drawn = _drawn(file, case, number)
        for name in drawn:
            if name not in parameters or name in taken:
                what = f"names '{name}', which is no tensor that the kernel reads"
                raise file.wrong(("cases", number, "inputs", name), what)
        names = names or [name for name in parameters if name in drawn]
        if {*names} != drawn.keys():
            what = f"must name {', '.join(names)}, as the first case does"
            raise file.wrong(("cases", number, "inputs"), what)
        column = dict(drawn)
        for name, one in launch.outputs.items():
            column[name] = _dtype(file, name, one, drawn)
        if column not in columns:
            columns.append(column)

    def spec(name: str) -> TensorSpec:
        return TensorSpec(name=name, dtypes=tuple(column[name] for column in columns))

    return tuple(map(spec, names)), tuple(map(spec, launch.outputs))


def _drawn(file: YamlFile, case: GivenCase, number: int) -> dict[str, str]:
    """The dtype of each input of a case."""
    place = ("cases", number, "inputs")
    if case.inputs is None:
        return {}  # the kernel only writes
    if not isinstance(case.inputs, dict):
        raise file.wrong(place, "must be a mapping from the kernel's parameters to tensors")
    found = {}
    for name, one in case.inputs.items():
        if not isinstance(one, GivenTensor) or one.dtype is None:
            raise file.wrong((*place, name), "must be one tensor with shape and dtype")
        found[name] = one.dtype
    return found


def _dtype(file: YamlFile, name: str, given: str | GivenOutput, inputs: dict[str, str]) -> str:
    """The dtype of an output."""
    place = ("launch", "outputs", name)
    if isinstance(given, str):
        if given not in inputs:
            what = f"is '{given}', no input; name one that it is like, or give shape and dtype"
            raise file.wrong(place, what)
        return inputs[given]
    if given.dtype in inputs:
        return inputs[given.dtype]
    try:
        return as_dtype(given.dtype)
    except ValueError as problem:
        raise file.wrong((*place, "dtype"), str(problem)) from None


def _attrs(launch: GivenLaunch) -> tuple[AttrSpec, ...]:
    def kind(value: int | float | bool) -> str:
        return "bool" if isinstance(value, bool) else "int" if isinstance(value, int) else "float"

    return tuple(
        AttrSpec.model_validate(
            {"name": name, "type": kind(value), "required": False, "default": value}
        )
        for name, value in launch.attrs.items()
    )
