"""Results built from the real models, for tests of what is made of them."""

from __future__ import annotations

import hashlib
import subprocess
from collections.abc import Mapping
from pathlib import Path

from bot.repository.job import Job
from ci.model.result import BudgetUse, Result, UsedTuple, Verification
from ci.model.trial import (
    Candidate,
    CaseMeasurement,
    Fingerprint,
    Measurement,
    Outcome,
    PipeTime,
    Place,
    Refusal,
    Trial,
)

PASSED = ("guard", "build", "link", "run", "verify", "plausible")
OPERATOR_PATH = "src/math/scale_add"
TILING = "op_host/scale_add.cpp"
KERNEL = "op_kernel/scale_add.cpp"
SOURCES = {
    TILING: "constexpr uint32_t TILE = 1024;\nconstexpr uint32_t BLOCKS = 8;\n\n"
    "ge::graphStatus Tiling(gert::TilingContext* context) { return ge::GRAPH_SUCCESS; }\n"
    'class ScaleAdd : public OpDef {\n    ScaleAdd() { this->Input("x"); }\n};\n'
    "OP_ADD(ScaleAdd);\n",
    KERNEL: "constexpr int32_t BUFFER_NUM = 1;\n// compute\n"
    'extern "C" __global__ __aicore__ void scale_add(GM_ADDR x, GM_ADDR tiling) {}\n',
}
SIMULATED = Fingerprint(backend="sim", device="910B4", version="sim 1, model 1", simulated=True)


def git(folder: Path, *arguments: str) -> str:
    identity = ["-c", "user.name=Tester", "-c", "user.email=tester@example.org"]
    return subprocess.run(
        ["git", *identity, *arguments], cwd=folder, check=True, capture_output=True, text=True
    ).stdout.strip()


def published(checkout: Path, bare: Path, remote: str = "") -> None:
    """Make a repository of what is in `checkout`, and push it to a new bare one."""
    git(bare.parent, "init", "-q", "--bare", "-b", "main", str(bare))
    with (bare / "config").open("a") as config:  # no process of upkeep behind each push
        config.write("[receive]\n\tautogc = false\n")
    for words in (
        ("init", "-q", "-b", "main"),
        ("config", "user.name", "Tester"),
        ("config", "user.email", "tester@example.org"),
        ("add", "-A"),
        ("commit", "-q", "-m", "Add operators"),
        ("remote", "add", "origin", remote or str(bare)),
        ("push", "-q", "origin", "main"),
    ):
        git(checkout, *words)


def written(folder: Path, files: Mapping[str, str]) -> None:
    """Write files, by path below `folder`."""
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def repository(folder: Path) -> Path:
    """A checkout with one operator and a bare `origin` beside it; returns the checkout."""
    checkout = folder / "ops"
    written(checkout / OPERATOR_PATH, SOURCES)
    written(checkout, {"README.md": "operators\n"})
    published(checkout, folder / "origin.git")
    return checkout


def job(key: str = "0123456789abcdef", **changes: object) -> Job:
    """Work that alice asked for on GitHub."""
    given: dict[str, object] = {
        "key": key,
        "forge": "github",
        "repository": "team/ops",
        "number": 3,
        "operator": OPERATOR_PATH,
        "source_ref": "refs/pull/3/head",
        "source_commit": "1" * 40,
        "target_branch": "feature",
        "judge_ref": "refs/heads/main",
        "judge_commit": "2" * 40,
        "workload": f"{OPERATOR_PATH}/workload.yaml",
        "device": "910B4",
        "budget": 40,
        "requested_by": "alice",
    }
    return Job.model_validate(given | changes)


def measurement(micros: float, *, cases: int = 2, busy: float = 0.5) -> Measurement:
    return Measurement(
        fingerprint=SIMULATED,
        cases=tuple(
            CaseMeasurement(
                case=f"fp16_{2048 << i}",
                samples_us=(micros * (i + 1),),
                median_us=micros * (i + 1),
                low_us=micros * (i + 1),
                high_us=micros * (i + 1),
                tiling_key=1,
                pipes=PipeTime(
                    total_cycles=int(micros * (i + 1) * 1650),
                    block_dim=8,
                    busy_cycles={
                        "SCALAR": micros * 200,
                        "VECTOR": micros * 1650 * busy,
                        "MTE2": micros * 900,
                        "MTE3": micros * 600,
                    },
                ),
            )
            for i in range(cases)
        ),
    )


def trial(
    number: int,
    files: dict[str, str] | None = None,
    micros: float | None = None,
    *,
    stage: str = "kernel",
    parent: str = "",
    outcome: Outcome = Outcome.OK,
    rationale: str = "",
    message: str = "",
    tuple_ids: tuple[str, ...] = (),
) -> Trial:
    return Trial.model_validate(
        {
            "number": number,
            "candidate": Candidate.model_validate(
                {
                    "files": files or {},
                    "stage": stage,
                    "parent": parent,
                    "proposer": "rules" if files else "",
                    "rationale": rationale,
                    "motif_ids": ("double-buffer",) if files and stage == "kernel" else (),
                    "tuple_ids": tuple_ids,
                }
            ),
            "outcome": outcome,
            "gates": ("guard", "build", "link") if message else PASSED,
            "refusal": Refusal(gate="run", sentence=message, place=Place(file=KERNEL, line=2))
            if message
            else None,
            "measurement": None if micros is None else measurement(micros),
            "seconds": 1.25,
        }
    )


WIDE_TILE = {TILING: SOURCES[TILING].replace("1024", "8192")}
DOUBLE_BUFFER = WIDE_TILE | {KERNEL: SOURCES[KERNEL].replace("BUFFER_NUM = 1", "BUFFER_NUM = 2")}

DIFF = """\
diff --git a/src/math/scale_add/op_host/scale_add.cpp b/src/math/scale_add/op_host/scale_add.cpp
--- a/src/math/scale_add/op_host/scale_add.cpp
+++ b/src/math/scale_add/op_host/scale_add.cpp
@@ -1,2 +1,2 @@
-constexpr uint32_t TILE = 1024;
+constexpr uint32_t TILE = 8192;
 constexpr uint32_t BLOCKS = 8;
diff --git a/src/math/scale_add/op_kernel/scale_add.cpp b/src/math/scale_add/op_kernel/scale_add.cpp
--- a/src/math/scale_add/op_kernel/scale_add.cpp
+++ b/src/math/scale_add/op_kernel/scale_add.cpp
@@ -1,3 +1,3 @@
-constexpr int32_t BUFFER_NUM = 1;
+constexpr int32_t BUFFER_NUM = 2;
 // compute
 extern "C" __global__ __aicore__ void scale_add(GM_ADDR x, GM_ADDR tiling) {}
"""


def result(base_commit: str = "", **changes: object) -> Result:
    """A finished run: a wider tile, then a double buffer, with failures on the way."""
    baseline = trial(0, None, 12.0, stage="baseline")
    tiling = trial(
        2, WIDE_TILE, 9.0, stage="tiling", parent=baseline.candidate.hash, rationale="larger tile"
    )
    best = trial(
        5,
        DOUBLE_BUFFER,
        6.0,
        parent=tiling.candidate.hash,
        rationale="MTE2 waits for VECTOR; a second buffer lets copies run ahead",
        tuple_ids=("abcdef012345",),
    )
    trials = (
        baseline,
        trial(
            1,
            {TILING: "x"},
            None,
            stage="tiling",
            outcome=Outcome.MEMORY_ERROR,
            rationale="tile of 64 KiB",
            message="UB overflow: 262144 of 196608 bytes",
        ),
        tiling,
        trial(
            3,
            {KERNEL: "y"},
            None,
            outcome=Outcome.RACE,
            rationale="drop the barrier",
            message="VECTOR reads buffer x before MTE2 wrote it",
        ),
        trial(4, {KERNEL: "z"}, 9.5, rationale="fuse Muls and Adds into Axpy"),
        best,
    )
    values: dict[str, object] = {
        "run": "20260101-000000-7",
        "operator": "scale_add",
        "op_type": "ScaleAdd",
        "operator_path": OPERATOR_PATH,
        "base_commit": base_commit,
        "base_hashes": {
            name: hashlib.sha256(text.encode()).hexdigest() for name, text in SOURCES.items()
        },
        "fingerprint": SIMULATED,
        "seed": 7,
        "settings": {
            "workload": "src/math/scale_add/workload.yaml",
            "backend": "sim",
            "device": "910B4",
            "budget": 40,
            "stage": "both",
            "proposer": "rules",
        },
        "verdict": "improved",
        "verdict_reason": "every case is faster and verified",
        "baseline": baseline,
        "best": best,
        "speedup": 2.0,
        "diff": DIFF,
        "trials": trials,
        "retrieved": (
            UsedTuple(
                id="abcdef012345",
                title="Double buffering of the input queue",
                bottleneck="MTE2 and VECTOR run one after the other",
                similarity=0.83,
                why="same bottleneck class, same op family",
                trial=5,
                won=True,
            ),
        ),
        "verification": Verification(
            seeds=(1, 2, 3),
            cases=2,
            elements=18432,
            reference="golden",
            worst_error=0.25,
            gates=("more_seeds", "steady", "edges"),
            varied={"length": 14, "dtype": 8},
        ),
        "budget": BudgetUse(evaluations=6, granted=40, wall_seconds=41.5),
        "bottleneck_before": "MTE2 and VECTOR take turns",
        "bottleneck_after": "MTE2 bandwidth",
    }
    return Result.model_validate(values | changes)
