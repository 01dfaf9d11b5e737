"""What the `git` program gets of the environment and of a person's settings: the way to servers.

Everything else that a machine, a person or a hook sets for git is left behind: it would decide what
a diff looks like, what a checkout runs, and which repository is meant.
"""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
import tempfile
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Final

_PASSED: Final = (
    *("PATH", "TMPDIR", "LD_LIBRARY_PATH", "USER", "LOGNAME", "SSH_AUTH_SOCK"),
    *("http_proxy", "https_proxy", "all_proxy", "no_proxy"),
    *("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"),
    *("GIT_SSL_CAINFO", "GIT_SSL_CAPATH", "GIT_PROXY_SSL_CAINFO", "CURL_CA_BUNDLE"),
    *("SSL_CERT_FILE", "SSL_CERT_DIR"),
)
"""Where programs are, proxies, and whom TLS believes."""

_SETTINGS: Final = re.compile(
    r"http\.(.+\.)?(proxy|proxyauthmethod|proxysslcainfo|sslcainfo|sslcapath|sslcert|sslkey)"
    r"|url\..+\.(insteadof|pushinsteadof)"
    r"|safe\.directory",
    re.DOTALL,
)
"""Settings of the person and the system that are passed on: proxies, certificates, rewritten
addresses, and whose repositories may be opened."""

_OURS: Final = {
    "HOME": os.devnull,  # no .netrc, and no .gitconfig for a git that is older than 2.32
    "LC_ALL": "C",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_ATTR_NOSYSTEM": "1",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_SYSTEM": os.devnull,
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_GRAFT_FILE": os.devnull,
    "GIT_SSH_COMMAND": "ssh",
}

_READ_S: Final = 30


def git_environment() -> dict[str, str]:
    """The whole environment for a call of git; no token and no other `GIT_*` variable is in it."""
    kept = {name: os.environ[name] for name in _PASSED if name in os.environ}
    return {**kept, **_OURS, "GIT_CONFIG_GLOBAL": _own_file(_passed_on(_sources()))}


def _sources() -> tuple[tuple[str, str], ...]:
    """The part of the environment that says where a person's settings of git are."""
    named = ("HOME", "XDG_CONFIG_HOME", "PATH")
    found = {n: v for n, v in os.environ.items() if n in named or n.startswith("GIT_CONFIG_")}
    return tuple(sorted(found.items()))


@cache
def _passed_on(sources: tuple[tuple[str, str], ...]) -> str:
    """The text of a configuration with what is passed on of the person's and system's settings.

    It is empty where git is missing or cannot read them.
    """
    try:
        listed = subprocess.run(
            ["git", "config", "--list", "--show-scope", "-z", "--includes"],
            cwd="/",
            env={**dict(sources), "GIT_CEILING_DIRECTORIES": "/", "LC_ALL": "C"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_READ_S,
            check=False,
        ).stdout.decode(errors="replace")
    except (OSError, subprocess.TimeoutExpired):
        return ""
    words = listed.split("\0")[:-1]
    lines = []
    for scope, entry in zip(words[::2], words[1::2], strict=False):
        key, _, value = entry.partition("\n")
        if scope in ("system", "global", "command") and _SETTINGS.fullmatch(key):
            expanded = value if key.startswith("url.") else _expanded(value, dict(sources))
            lines.append(setting_line(key, expanded))
    return "".join(lines)


def _expanded(value: str, environ: Mapping[str, str]) -> str:
    """A path as git reads it, with the person's home, which our calls do not have."""
    home = environ.get("HOME")
    return f"{home}{value[1:]}" if home and value.startswith("~/") else value


def setting_line(key: str, value: str) -> str:
    """One setting in the form of a file of git's."""
    section, _, rest = key.partition(".")
    middle, _, name = rest.rpartition(".")
    head = f'[{section} "{_quoted(middle)}"]' if middle else f"[{section}]"
    return f'{head}\n\t{name} = "{_quoted(value)}"\n'


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return escaped.replace("\n", "\\n").replace("\t", "\\t")


def _own_file(text: str) -> str:
    """A file of this process with that text; it is written again when somebody has tidied up."""
    if not text:
        return os.devnull
    folder = Path(_folder().name)
    file = folder / hashlib.sha256(text.encode()).hexdigest()[:16]
    if not file.is_file():
        folder.mkdir(mode=0o700, exist_ok=True)
        with tempfile.NamedTemporaryFile("w", dir=folder, encoding="utf-8", delete=False) as made:
            made.write(text)
        Path(made.name).replace(file)
    return str(file)


@cache
def _folder() -> tempfile.TemporaryDirectory[str]:
    """Gone when the process ends."""
    return tempfile.TemporaryDirectory(prefix="ascendopt-git-")
