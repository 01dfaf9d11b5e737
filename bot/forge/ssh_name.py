"""Which server a host of an ssh address is: people give theirs other names in ssh's settings."""

from __future__ import annotations

import re
import subprocess
from typing import Final

from bot.forge.kinds import forge_of_host

_HOST: Final = re.compile(r"[A-Za-z0-9][\w.-]*", re.ASCII)
_SECONDS: Final = 10


def web_server(host: str) -> str:
    """Web address of the server that ssh reaches as `host`.

    A host that leads to a public forge is that forge, as `github.com-work` and the hosts for port
    443 are. A server of one's own may have another name for ssh than for its pages, in the same
    domain, or be reached by its number. Any other host is a name of ssh's settings alone.
    """
    real = _real(host)
    kind = forge_of_host(real) or forge_of_host(host)
    if kind is not None:
        return kind.home
    return f"https://{host if _is_name_of(host, real) else real}"


def _is_name_of(host: str, real: str) -> bool:
    """Whether the server that ssh reaches as `real` may have its pages at `host`."""
    _, dot, domain = host.lower().partition(".")
    number = re.fullmatch(r"[\d.]+|.*:.*", real) is not None
    return bool(dot) and (number or f".{real.lower()}".endswith((f".{host.lower()}", f".{domain}")))


def _real(host: str) -> str:
    """The host that the person's settings of ssh give for `host`; itself without any."""
    if not _HOST.fullmatch(host):
        return host
    try:
        said = subprocess.run(
            ["ssh", "-G", "--", host],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=_SECONDS,
            check=False,
        ).stdout
    except (OSError, subprocess.TimeoutExpired):
        return host
    found = re.search(r"^hostname (\S+)$", said, re.MULTILINE)
    return found[1] if found and _HOST.fullmatch(found[1]) else host
