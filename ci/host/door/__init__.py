"""Front doors of the machine: the headers that kernels are compiled against."""

from __future__ import annotations

from ci.host.door.base import FrontDoor
from ci.host.door.device_path import real_headers
from ci.host.door.header_tree import chosen_headers
from ci.host.door.own import own_headers

__all__ = ["FrontDoor", "open_door", "own_headers"]


def open_door(asc_headers: str = "") -> FrontDoor:
    """Our own headers, or the tree that `chosen_headers` names. Raises InputError."""
    root = chosen_headers(asc_headers)
    return real_headers(root) if root else own_headers()
