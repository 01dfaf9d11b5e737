"""Makes tuples for the tests of the bank."""

from __future__ import annotations

from ci.model.trial import Fingerprint
from experience.bank.distill import normalised_hash
from experience.bank.tuple import EffectEvidence, ExperienceTuple

SIM = Fingerprint(backend="sim", device="910B4", version="1", simulated=True)


def make_tuple(number: int, **changes: object) -> ExperienceTuple:
    diff = f"--- a/k.cpp\n+++ b/k.cpp\n@@ -1 +1 @@\n-  Slow{number}(x);\n+  Fast{number}(x);\n"
    values: dict[str, object] = {
        "id": f"{number:012x}",
        "title": f"motif {number}",
        "description": "why it helps",
        "bottleneck": f"the vector pipe waits for copies, variant {number}",
        "classes": ("mte2_bound",),
        "diff": diff,
        "diff_hash": normalised_hash(diff),
        "op_family": "math",
        "dtype": "float16",
        "soc": "910B4",
        "direction": "rewind",
        "evidence": EffectEvidence(
            slow_us=20.0, fast_us=10.0, samples=1, noise_floor=0.01, test="exact"
        ),
        "operator": "add_custom",
        "fingerprint": SIM,
    }
    return ExperienceTuple.model_validate(values | changes)
