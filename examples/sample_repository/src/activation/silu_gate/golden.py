"""Reference of silu_gate in double precision."""

import numpy as np


def silu_gate(gate: np.ndarray, up: np.ndarray) -> np.ndarray:
    g = gate.astype(np.float64)
    return (g / (1.0 + np.exp(-g)) * up.astype(np.float64)).astype(gate.dtype)
