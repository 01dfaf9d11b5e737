#!/usr/bin/python3
"""Stands in for `msprof op` and `msprof op simulator`: the options of the documentation, no other.

https://gitcode.com/Ascend/msopprof/blob/master/docs/en/user_guide/msopprof_user_guide.md, Table 1,
and msopprof_simulator_user_guide.md, Table 1:
"--launch-count: Sets the maximum number of operators that can be collected. The default value is 1,
and the value is an integer ranging from 1 to 5000."
"--warm-up: The default value is 5, and the value range is [0, 500]."
"--replay-mode: Options include kernel, application, and range. The default value is kernel."
"--kernel-name: Fuzzy match using the operator name prefix is supported. (…) restricted to letters,
digits, and underscores (_)"
"--output: Ensure that users in the group and other groups do not have the write permission on the
parent directory of the path"
"--timeout: The value is an integer ranging from 1 to 2880, in minutes."

What it does besides follows from words in the kernel that is run (a file `told` beside the program,
or in the vendor's folder): "stand-in: crash", hang, nothing, partial, throttled, slow at first.
"""

import os
import pathlib
import random
import re
import stat
import subprocess
import sys
import time

METRICS = {"Default", "ArithmeticUtilization", "L2Cache", "Memory", "MemoryL0", "MemoryUB",
           "PipeUtilization", "ResourceConflictRatio", "BasicInfo"}  # fmt: skip
DEVICE = {
    "kernel-name": r"[A-Za-z0-9_|]{1,1024}",
    "launch-count": r"[1-9]\d{0,3}",
    "aic-metrics": r"\w+(,\w+)*",
    "replay-mode": r"kernel|application|range",
    "warm-up": r"\d{1,3}",
    "output": r".+",
}
SIMULATOR = {
    "soc-version": r"Ascend\w+",
    "kernel-name": r"[A-Za-z0-9_|]{1,1024}",
    "timeout": r"[1-9]\d{0,3}",
    "output": r".+",
}
words = sys.argv[1:]
if words[:1] != ["op"]:
    sys.exit("msprof: only op is stood in for")
words = words[1:]
simulator = words[:1] == ["simulator"]
words = words[1:] if simulator else words
known, given = (SIMULATOR if simulator else DEVICE), {}
while words and words[0].startswith("--"):
    name, _, value = words.pop(0)[2:].partition("=")
    if name not in known or not re.fullmatch(known[name], value):
        sys.exit(f"[ERROR] --{name}={value} is not an option of msprof op")
    given[name] = value
if not set(given.get("aic-metrics", "Default").split(",")) <= METRICS:
    sys.exit(f"[ERROR] --aic-metrics={given['aic-metrics']}")
if simulator and "soc-version" not in given:
    sys.exit("[ERROR] --soc-version is mandatory")
if simulator and "/tools/simulator/" + given["soc-version"] not in os.environ["LD_LIBRARY_PATH"]:
    sys.exit("[ERROR] LD_LIBRARY_PATH names no simulator")
if "ASCEND_RT_VISIBLE_DEVICES" in os.environ:
    sys.exit("[ERROR] ASCEND_RT_VISIBLE_DEVICES is not supported with Profiling")
output = pathlib.Path(given["output"])
if output.parent.stat().st_mode & (stat.S_IWGRP | stat.S_IWOTH):
    sys.exit(f"[ERROR] others may write {output.parent}")

vendor = os.environ.get("ASCEND_CUSTOM_OPP_PATH", "")
told = pathlib.Path(vendor) / "told" if vendor else pathlib.Path(words[0]).parent / "told"
kernel = told.read_text()
if "stand-in: hang" in kernel:
    time.sleep(600)
if "stand-in: crash" in kernel:
    sys.exit("[ERROR] aicore exception: the address is out of range")
ended = subprocess.run(words, check=False)
if ended.returncode:
    sys.exit(ended.returncode)
if "stand-in: nothing" in kernel:
    print("[WARN] no operator matched")
    sys.exit(0)
symbol = given["kernel-name"] + ("_0c5d3f21_0_mix_aiv" if vendor else "")
us = 20.0 + 5.0 * kernel.count("PipeBarrier<PIPE_ALL>")
slow = "stand-in: throttled" in kernel or (
    "stand-in: slow at first" in kernel and output.name == "profile1"
)
clock = 1320 if slow else 1650
us *= 1.25 if slow else 1.0
place = output / "OPPROF_20261122101112_ABCDEFGH"
PIPES = (
    "block_id,sub_block_id,aiv_time(us),aiv_total_cycles,aiv_vec_time(us),aiv_scalar_time(us),"
    "aiv_mte2_time(us),aiv_mte3_time(us),\n"
    + "".join(f"{n},vector0,9.0,14850,2.0,1.0,5.0,4.0,\n" for n in range(4))
)
EVENT = '{"name": "%s", "ph": "X", "ts": %s, "dur": %s, "pid": "core0.veccore0", "tid": "%s"}'
if simulator:
    core = place / "simulator" / "core0.veccore0"
    core.mkdir(parents=True)
    events = ", ".join(
        EVENT % one
        for one in (("MOV_OUT_TO_UB", 0, 2.5, "MTE2"), ("VADD", 2.5, 1, "VECTOR"),
                    ("MOV_X", 0, us, "SCALAR"), ("MOV_UB_TO_OUT", 3.5, us - 3.5, "MTE3"))
    )  # fmt: skip
    text = '{"traceEvents": [' + events + "]}"
    (core.parent / "trace.json").write_text(text)
    (core / "core0.veccore0_instr_exe.csv").write_text(
        "instr,addr,pipe,call_count,cycles,running_time(us),detail\nVADD,1,VECTOR,8,2944,0.1,x\n"
    )
    sys.exit(0)
count = int(given["launch-count"])
for number in range(count):
    folder = place / symbol / str(number) if count > 1 else place
    folder.mkdir(parents=True)
    noisy = us * random.gauss(1.0, 0.01)
    row = f"{symbol},vector,{noisy:.6f},4,NA,0,NA,{clock},1650,\n"
    text = ("Op Name,Op Type,Task Duration(us),Block Dim,Mix Block Dim,Device Id,Pid,Current Freq,"
            "Rated Freq,\n" + row)  # fmt: skip
    if "stand-in: partial" in kernel:
        text = text[: text.index(row) + len(symbol) + 3]
    (folder / "OpBasicInfo.csv").write_text(text)
    (folder / "PipeUtilization.csv").write_text(PIPES)
