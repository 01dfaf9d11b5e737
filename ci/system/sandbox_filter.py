"""The system calls that a sandboxed program may not make, as a seccomp program."""

from __future__ import annotations

import errno
import platform
import struct
import sys
from typing import Final

# Numbers on x86-64 (arch/x86/entry/syscalls/syscall_64.tbl of Linux) and on aarch64
# (include/uapi/asm-generic/unistd.h); -1 where there is no such call.
_FORBIDDEN: Final = {
    "connect": (42, 203), "socket": (41, 198), "socketpair": (53, 199), "bind": (49, 200),
    "listen": (50, 201), "accept": (43, 202), "ptrace": (101, 117),
    "process_vm_readv": (310, 270), "process_vm_writev": (311, 271), "mount": (165, 40),
    "umount2": (166, 39), "setns": (308, 268), "unshare": (272, 97), "bpf": (321, 280),
    "perf_event_open": (298, 241), "userfaultfd": (323, 282), "io_uring_setup": (425, 425),
    "keyctl": (250, 219), "add_key": (248, 217), "init_module": (175, 105),
    "finit_module": (313, 273), "kexec_load": (246, 104), "open_by_handle_at": (304, 265),
    "pidfd_open": (434, 434), "pidfd_getfd": (438, 438), "pidfd_send_signal": (424, 424),
    "request_key": (249, 218),
    # What these make outlives the program, and others of the user have it, too.
    "shmget": (29, 194), "shmat": (30, 196), "shmctl": (31, 195), "semget": (64, 190),
    "semctl": (66, 191), "semop": (65, 193), "semtimedop": (220, 192), "msgget": (68, 186),
    "msgctl": (71, 187), "msgsnd": (69, 189), "msgrcv": (70, 188), "mq_open": (240, 180),
    "mq_unlink": (241, 181),
}  # fmt: skip
_REFUSED: Final = {
    # How much others of the user get of the machine. `nice` goes on without.
    "setpriority": (141, 140), "ioprio_set": (251, 30),
    # Whether two others share something.
    "kcmp": (312, 272),
}  # fmt: skip
_OF_ITSELF_ALONE: Final = {
    # The first argument is a process: 0 for the one that asks. Any other is refused.
    "prlimit64": (302, 261), "sched_setaffinity": (203, 122), "sched_setscheduler": (144, 119),
    "sched_setparam": (142, 118), "sched_setattr": (314, 274), "move_pages": (279, 239),
    "migrate_pages": (256, 238),
}  # fmt: skip
_NOT_FOR_ONE_PROCESS: Final = {
    # To start programs or to reach others; a compiler does the former.
    "clone": (56, 220), "fork": (57, -1), "vfork": (58, -1), "clone3": (435, 435),
    "setsid": (112, 157), "setpgid": (109, 154), "kill": (62, 129), "tkill": (200, 130),
    "rt_sigqueueinfo": (129, 138), "rt_tgsigqueueinfo": (297, 240),
    # To change whose a file is and who may read it: Landlock does not look at these.
    "chmod": (90, -1), "fchmod": (91, 52), "fchmodat": (268, 53), "fchmodat2": (452, 452),
    "chown": (92, -1), "fchown": (93, 55), "lchown": (94, -1), "fchownat": (260, 54),
    "setxattr": (188, 5), "lsetxattr": (189, 6), "fsetxattr": (190, 7), "removexattr": (197, 14),
    "lremovexattr": (198, 15), "fremovexattr": (199, 16), "setxattrat": (463, 463),
    "removexattrat": (466, 466), "utime": (132, -1), "utimes": (235, -1), "futimesat": (261, -1),
    "utimensat": (280, 88),
}  # fmt: skip

_PROCESSORS: Final = {
    # The column above, and the kernel's name for it (AUDIT_ARCH_* of linux/audit.h).
    "x86_64": (0, 0xC000003E),
    "aarch64": (1, 0xC00000B7),
}
_X32_CALLS: Final = 0x40000000
"""The x32 ABI of x86-64 numbers its calls from here on; they would slip past the numbers above."""

_LOAD, _JUMP_EQUAL, _JUMP_AT_LEAST, _RETURN = 0x20, 0x15, 0x35, 0x06
_ALLOW, _KILL, _REFUSE = 0x7FFF0000, 0x80000000, 0x00050000 | errno.EPERM
_HEAD: Final = 3
"""Steps before the tests."""


def syscall_filter(*, may_spawn: bool, processor: str = platform.machine()) -> bytes:
    """A seccomp program that kills at network, kernel and (unless allowed) process calls.

    Empty on a processor that the simulator is not built for.
    """
    if processor not in _PROCESSORS or sys.platform != "linux":
        return b""
    column, audit = _PROCESSORS[processor]
    forbidden = _FORBIDDEN if may_spawn else _FORBIDDEN | _NOT_FOR_ONE_PROCESS
    killed, refused, own = (
        sorted({pair[column] for pair in table.values()} - {-1})
        for table in (forbidden, _REFUSED, _OF_ITSELF_ALONE)
    )
    count = 1 + len(killed) + len(refused) + len(own)
    # What follows the tests, by its place.
    allow, kill, refuse, look = range(_HEAD + count, _HEAD + count + 4)
    tests = [
        (_JUMP_AT_LEAST, _X32_CALLS, kill),
        *((_JUMP_EQUAL, one, kill) for one in killed),
        *((_JUMP_EQUAL, one, refuse) for one in refused),
        *((_JUMP_EQUAL, one, look) for one in own),
    ]
    # (code, jump if true, jump if false, operand)
    steps = [(_LOAD, 0, 0, 4), (_JUMP_EQUAL, 0, kill - 2, audit), (_LOAD, 0, 0, 0)]
    steps += [
        (code, place - at - 1, 0, number) for at, (code, number, place) in enumerate(tests, _HEAD)
    ]
    steps += [(_RETURN, 0, 0, _ALLOW), (_RETURN, 0, 0, _KILL), (_RETURN, 0, 0, _REFUSE)]
    # The first argument.
    steps += [(_LOAD, 0, 0, 16), (_JUMP_EQUAL, 0, 1, 0)]
    steps += [(_RETURN, 0, 0, _ALLOW), (_RETURN, 0, 0, _REFUSE)]
    return b"".join(struct.pack("=HBBI", *step) for step in steps)
