"""Backends: where candidates are built and run. `make_backend` is the way in."""

from __future__ import annotations

from pathlib import Path

from ci.backend.base import Backend
from ci.model.ensemble import Condition
from ci.model.errors import InputError

BACKENDS = ("sim", "cann", "cann-direct", "camodel", "replay")


def make_backend(
    name: str,
    device: str,
    *,
    recording: Path | None = None,
    asc_headers: str = "",
    state: Condition = "cold",
) -> Backend:
    """The backend called `name`; `device` is a chip such as 910B4.

    `recording` is the file that the replay backend answers from, `asc_headers` what
    `ci.host.door.open_door` takes, `state` that in which simulated launches begin. Raises
    InputError naming the known backends or devices, and EnvironmentProblem when this machine
    cannot run it.
    """
    if asc_headers and name != "sim":
        raise InputError(
            f"--asc-headers belongs to the simulator; the {name} backend takes no headers."
        )
    if name == "sim":
        from ci.backend.sim import SimulatorBackend
        from ci.host.door import open_door

        return SimulatorBackend(device, door=open_door(asc_headers), state=state)
    if name in ("cann", "cann-direct"):
        from ci.backend.cann.backend import CannBackend

        return CannBackend(device, "aclnn" if name == "cann" else "direct")
    if name == "camodel":
        from ci.backend.cann.backend import CamodelBackend

        return CamodelBackend(device)
    if name == "replay":
        from ci.backend.replay import ReplayBackend

        if recording is None:
            raise InputError("The replay backend needs the file of a recording.")
        return ReplayBackend(recording)
    raise InputError(f"There is no backend '{name}'; known are {', '.join(BACKENDS)}.")
