"""Takes on what confines it, then becomes the program.

    sandbox_child.py FILTER LEVEL (=|/|+)PATH … -- PROGRAM …

Started by `sandbox.py` where bubblewrap does not work. A file of its own and free of imports
from the project, because it runs with `python -I -S` for the sake of speed; to import `json` would
take as long as all else. FILTER is a seccomp program in hex, LEVEL `landlock` or `limits`. A path
with `=` may be read, one with `/` only listed, one with `+` written. Each is a word of its own, for
the kernel limits the length of one.
"""

import ctypes
import os
import stat
import struct
import sys

_PR_CAPBSET_DROP = 24
_PR_SET_NO_NEW_PRIVS = 38
_PR_SET_SECCOMP = 22
_SECCOMP_MODE_FILTER = 2

# <linux/landlock.h>; the numbers of its system calls are the same on every architecture.
_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_PATH_BENEATH = 1
_VERSION_ONLY = 1
# Below 3 (Linux 6.2) any file of the user can be cut to nothing.
_OLDEST_LANDLOCK = 3
_EXECUTE, _READ_FILE, _READ_DIR = 1 << 0, 1 << 2, 1 << 3
_OF_FILES = _EXECUTE | 1 << 1 | _READ_FILE | 1 << 14 | 1 << 15  # write, truncate, ioctl
_KNOWN_BITS = {3: 15, 4: 15, 5: 16}  # rights by version; none came after 5
_SCOPES = 3  # abstract sockets and signals, from version 6 on

_LIBC = ctypes.CDLL(None, use_errno=True)

KINDS = "=/+"  # paths to read, to list and to write


class _Program(ctypes.Structure):
    """Layout of struct sock_fprog of <linux/filter.h>."""

    _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_void_p))


def _install(program: bytes) -> bool:
    text = ctypes.create_string_buffer(program, len(program))
    described = _Program(len(program) // 8, ctypes.cast(text, ctypes.c_void_p))
    return not _LIBC.prctl(_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, ctypes.byref(described), 0, 0)


def _close_files(readable: list[str], listed: list[str], writable: list[str]) -> bool:
    """Let this process and all it becomes open these paths only; False where it cannot be done."""
    version = _LIBC.syscall(_CREATE_RULESET, None, 0, _VERSION_ONLY)
    if version < _OLDEST_LANDLOCK:
        return False
    every = (1 << _KNOWN_BITS.get(version, 16)) - 1
    words = (every, 0, _SCOPES) if version >= 6 else (every,)
    attributes = struct.pack(f"={len(words)}Q", *words)
    rules = _LIBC.syscall(_CREATE_RULESET, attributes, len(attributes), 0)
    if rules < 0:
        return False
    reading = _EXECUTE | _READ_FILE | _READ_DIR
    for paths, granted in ((readable, reading), (listed, _READ_DIR), (writable, every)):
        for path in paths:
            try:
                place = os.open(path, os.O_PATH | os.O_CLOEXEC)
            except OSError:
                continue  # what is not there cannot be opened either
            folder = stat.S_ISDIR(os.fstat(place).st_mode)
            granted_here = granted if folder else granted & _OF_FILES & every
            rule = struct.pack("=Qi", granted_here, place)
            if _LIBC.syscall(_ADD_RULE, rules, _PATH_BENEATH, rule, 0):
                return False
            os.close(place)
    return not _LIBC.syscall(_RESTRICT_SELF, rules, 0)


def become(words: list[str]) -> None:
    """Take it on, for this process and all it becomes, then run the program in its place."""
    program, level, *rest = words
    end = rest.index("--")
    paths, argv = rest[:end], rest[end + 1 :]
    for capability in range(64):  # root without them cannot look into processes of others
        _LIBC.prctl(_PR_CAPBSET_DROP, capability, 0, 0, 0)
    os.get_exec_path()  # imports what `execvp` needs while Python's library can still be read
    confined = not _LIBC.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    if level == "landlock":
        confined &= _close_files(
            *([path[1:] for path in paths if path[0] == kind] for kind in KINDS)
        )
    if program:
        confined &= _install(bytes.fromhex(program))
    if not confined:
        sys.exit(126)  # rather do not start the program
    os.execvp(argv[0], argv)


if __name__ == "__main__":
    become(sys.argv[1:])
