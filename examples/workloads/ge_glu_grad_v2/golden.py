import numpy as np


def ge_glu_grad_v2(dy, x, gelu, dim=-1, approximate=1, activate_left=False):
    """Gradient of x1 * gelu(x2), gelu by its tanh formula."""
    value, gate = np.split(x.astype(np.float64), 2, axis=dim)
    if activate_left:
        value, gate = gate, value
    scale = np.sqrt(2 / np.pi)
    t = np.tanh(scale * (gate + 0.044715 * gate**3))
    slope = 0.5 * (1 + t) + 0.5 * gate * (1 - t * t) * scale * (1 + 3 * 0.044715 * gate**2)
    parts = [dy * gelu, dy * value * slope]
    return np.concatenate(parts[::-1] if activate_left else parts, axis=dim)
