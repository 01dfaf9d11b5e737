"""What a launch is asked for in: the request file that `machine/request.cpp` reads.

One record a line, fields separated by tabs; arguments in the kernel's order, inputs first.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from ci.model.launch import Array, Tensors
from ci.model.trial import MachineWarning
from ci.simulator.input_files import shared_file
from ci.simulator.kernel_cores import VECTOR, Cores


@dataclass(frozen=True)
class LaunchSpec:
    """What the host tiling decided, and the kernel built for it."""

    kernel: Path
    """For vector cores; where there are none, for cube cores."""
    block_dim: int
    tiling_key: int
    tiling: bytes
    workspace: int
    """Bytes that the host side asks for."""
    auto_sync: bool
    aliases: dict[int, int]
    """Output index → index of the input whose memory it shares."""
    initial: dict[int, float]
    """Output index → value that fills it before the launch; others hold garbage."""
    least_workspace: int = 0
    """Bytes of workspace that are there though the host side asks for fewer."""
    poison: int = 0xFF
    """Each byte of outputs, workspace and local memories before the launch."""
    behind: int | None = None
    """Each byte behind the inputs; None for that of `poison`."""
    elsewhere: bool = False
    """Tensors have other addresses than usual, none of them a multiple of 512."""
    over_read: int = 32
    """Bytes behind a tensor's last block of 32 that copies may read."""
    checked: bool = False
    """The kernel is built to be checked: the machine looks for causes, too."""
    true_offsets: bool = False
    """The kernel holds local addresses as offsets from 0."""
    cores: Cores = VECTOR
    cube_kernel: Path | None = None
    """For the cube cores of a launch on both kinds."""
    addresses: bool = False
    """Only the addresses that copies name are asked for: no tensor has a file."""
    members: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    """Members by name: constants that take the place of the device's where the launch is timed
    again."""

    warnings: tuple[MachineWarning, ...] = ()
    """What the host tiling did that is odd."""

    @property
    def kernels(self) -> tuple[Path, ...]:
        """What the machine loads."""
        return (self.kernel, self.cube_kernel) if self.cube_kernel else (self.kernel,)


def write_request(
    folder: Path,
    constants: Mapping[str, float],
    spec: LaunchSpec,
    inputs: Tensors,
    outputs: Tensors,
    timeline: bool,
) -> list[list[Path]]:
    """Write everything the machine reads; answers the files of each output.

    The machine answers in `report.json`, and with `timeline` in `timeline.jsonl`.
    """
    rows = "".join(f"{name}\t{value!r}\n" for name, value in constants.items())
    (folder / "constants").write_text(rows)
    (folder / "tiling").write_bytes(spec.tiling)
    lines = [
        f"constants\t{folder / 'constants'}",
        f"block_dim\t{spec.block_dim}",
        f"cores\t{spec.cores.cubes}\t{spec.cores.vectors}",
        f"tiling_key\t{spec.tiling_key}",
        f"auto_sync\t{int(spec.auto_sync)}",
        f"true_offsets\t{int(spec.true_offsets)}",
        f"tiling\t{folder / 'tiling'}",
        f"workspace\t{max(spec.workspace, spec.least_workspace)}",
        f"asked_workspace\t{spec.workspace}",
        f"poison\t{spec.poison}",
        f"behind\t{spec.poison if spec.behind is None else spec.behind}",
        f"elsewhere\t{int(spec.elsewhere)}",
        f"over_read\t{spec.over_read}",
        f"checked\t{int(spec.checked)}",
        f"addresses\t{int(spec.addresses)}",
    ]
    for index, tensor in enumerate(inputs):
        lines += _input(folder / f"input{index}", tensor, written=not spec.addresses)
    files: list[list[Path]] = []
    for index, tensor in enumerate(outputs):
        stem = folder / f"output{index}"
        if index in spec.aliases:
            lines.append(f"arg\talias\t{spec.aliases[index]}\t{stem}\t{_bytes(tensor)}")
            files.append(_parts(stem, tensor))
            continue
        if index in spec.initial and isinstance(tensor, np.ndarray) and not spec.addresses:
            np.full(tensor.shape, spec.initial[index]).astype(tensor.dtype).tofile(stem)
        lines += _output(stem, tensor)
        files.append(_parts(stem, tensor))
    for name, changed in spec.members.items():
        lines.append("\t".join(["member", name, *(f"{c}\t{v!r}" for c, v in changed.items())]))
    lines.append(f"report\t{folder / 'report.json'}")
    if timeline:
        lines.append(f"timeline\t{folder / 'timeline.jsonl'}")
    (folder / "request").write_text("\n".join(lines) + "\n")
    return files


def _parts(stem: Path, tensor: Array | list[Array] | None) -> list[Path]:
    """The file of a tensor, or the files of a tensor list."""
    if isinstance(tensor, list):
        return [Path(f"{stem}.{number}") for number in range(len(tensor))]
    return [stem]


def _input(stem: Path, tensor: Array | list[Array] | None, *, written: bool) -> list[str]:
    """Request lines of one input; its bytes are in a file that launches share, or are `written`."""
    if tensor is None:
        return ["arg\tnull"]
    if isinstance(tensor, list):
        lines = [f"list\tinput\t{len(tensor)}"]
        for path, item in zip(_parts(stem, tensor), tensor, strict=True):
            lines.append(_item(_input_file(path, item, written), item))
        return lines
    return [f"arg\tinput\t{_input_file(stem, tensor, written)}\t{_sizes(tensor)}"]


def _input_file(path: Path, tensor: Array, written: bool) -> Path:
    known = shared_file(tensor) if written else path
    if known is not None:
        return known
    np.ascontiguousarray(tensor).tofile(path)
    return path


def _output(stem: Path, tensor: Array | list[Array] | None) -> list[str]:
    """Request lines of one output."""
    if tensor is None:
        return ["arg\tnull"]
    if isinstance(tensor, list):
        items = zip(_parts(stem, tensor), tensor, strict=True)
        return [f"list\toutput\t{len(tensor)}", *(_item(path, item) for path, item in items)]
    return [f"arg\toutput\t{stem}\t{_sizes(tensor)}"]


def _sizes(tensor: Array) -> str:
    """The bytes of a tensor, and of one of its elements."""
    return f"{tensor.nbytes}\t{tensor.dtype.itemsize}"


def _item(path: Path, tensor: Array) -> str:
    return f"item\t{path}\t{tensor.nbytes}\t{','.join(map(str, tensor.shape))}"


def _bytes(tensor: Array | list[Array] | None) -> int:
    return tensor.nbytes if isinstance(tensor, np.ndarray) else 0
