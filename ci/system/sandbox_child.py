"""Takes on a system-call filter, then becomes the program: `sandbox_child.py FILTER-HEX PROGRAM …`.

Started by `sandbox.py` where bubblewrap does not work. A file of its own and free of imports
from the project, because it runs with `python -I -S` for the sake of speed.
"""

import ctypes
import os
import sys

_PR_SET_NO_NEW_PRIVS = 38
_PR_SET_SECCOMP = 22
_SECCOMP_MODE_FILTER = 2


class _Program(ctypes.Structure):
    """struct sock_fprog of <linux/filter.h>."""

    _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_void_p))


def become(program: bytes, argv: list[str]) -> None:
    """Install the filter for this process and all it becomes, then run `argv` in its place."""
    if program:
        libc = ctypes.CDLL(None, use_errno=True)
        text = ctypes.create_string_buffer(program, len(program))
        described = _Program(len(program) // 8, ctypes.cast(text, ctypes.c_void_p))
        if libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) or libc.prctl(
            _PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, ctypes.byref(described), 0, 0
        ):
            # Without the filter the candidate would have the network: rather do not start it.
            sys.exit(126)
    os.execvp(argv[0], argv)


if __name__ == "__main__":
    become(bytes.fromhex(sys.argv[1]), sys.argv[2:])
