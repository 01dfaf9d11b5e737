"""The system calls that a sandboxed program may not make, as a seccomp program."""

from __future__ import annotations

import platform
import struct
import sys

_FORBIDDEN = {
    # Linux x86-64 system-call numbers (arch/x86/entry/syscalls/syscall_64.tbl).
    "connect": 42, "socket": 41, "socketpair": 53, "bind": 49, "listen": 50, "accept": 43,
    "ptrace": 101, "process_vm_readv": 310, "process_vm_writev": 311, "mount": 165,
    "umount2": 166, "setns": 308, "unshare": 272, "bpf": 321, "perf_event_open": 298,
    "userfaultfd": 323, "io_uring_setup": 425, "keyctl": 250, "add_key": 248,
    "init_module": 175, "finit_module": 313, "kexec_load": 246, "open_by_handle_at": 304,
    "pidfd_open": 434, "pidfd_getfd": 438, "pidfd_send_signal": 424,
}  # fmt: skip
_NOT_FOR_ONE_PROCESS = {
    # To start programs or to reach others; a compiler does the former.
    "clone": 56, "fork": 57, "vfork": 58, "clone3": 435, "setsid": 112, "setpgid": 109,
    "kill": 62, "tkill": 200, "rt_sigqueueinfo": 129, "rt_tgsigqueueinfo": 297,
    # To change whose a file is and who may read it: Landlock does not look at these.
    "chmod": 90, "fchmod": 91, "fchmodat": 268, "fchmodat2": 452, "chown": 92, "fchown": 93,
    "lchown": 94, "fchownat": 260, "setxattr": 188, "lsetxattr": 189, "fsetxattr": 190,
    "removexattr": 197, "lremovexattr": 198, "fremovexattr": 199, "utime": 132, "utimes": 235,
    "futimesat": 261, "utimensat": 280,
}  # fmt: skip

_AUDIT_ARCH_X86_64 = 0xC000003E
_LOAD, _JUMP_EQUAL, _JUMP_AT_LEAST, _RETURN = 0x20, 0x15, 0x35, 0x06
_ALLOW, _KILL = 0x7FFF0000, 0x80000000


def syscall_filter(*, may_spawn: bool) -> bytes:
    """A seccomp program that kills at network, kernel and (unless allowed) process calls.

    Empty on machines other than x86-64, the only one that the simulator is built for.
    """
    if platform.machine() != "x86_64" or sys.platform != "linux":
        return b""
    numbers = sorted({*_FORBIDDEN.values(), *(() if may_spawn else _NOT_FOR_ONE_PROCESS.values())})
    count = len(numbers)
    # (code, jump if true, jump if false, operand); the last two return kill and allow.
    steps = [(_LOAD, 0, 0, 4), (_JUMP_EQUAL, 0, count + 3, _AUDIT_ARCH_X86_64), (_LOAD, 0, 0, 0)]
    # Calls of the x32 ABI would slip past the numbers.
    steps.append((_JUMP_AT_LEAST, count + 1, 0, 0x40000000))
    steps += [(_JUMP_EQUAL, count - i, 0, number) for i, number in enumerate(numbers)]
    steps += [(_RETURN, 0, 0, _ALLOW), (_RETURN, 0, 0, _KILL)]
    return b"".join(struct.pack("=HBBI", *step) for step in steps)
