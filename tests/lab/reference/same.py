from __future__ import annotations

import numpy as np
import numpy.typing as npt

from lab.reference.vector_rows.element import NUMPY_TYPES

Bytes = npt.NDArray[np.uint8]


def same(found: Bytes, wanted: Bytes, element: str) -> npt.NDArray[np.bool_]:
    """Byte by byte equal, or both NaN: which NaN an operation gives is not laid down."""
    equal = found == wanted
    kind = NUMPY_TYPES.get(element)
    if element == "bfloat16_t":
        nan = [(x.view(np.uint16) & 0x7FFF) > 0x7F80 for x in (found, wanted)]
    elif kind in (np.float16, np.float32):
        nan = [np.isnan(x.view(kind)) for x in (found, wanted)]
    else:
        return equal
    return equal | np.repeat(nan[0] & nan[1], np.dtype(kind).itemsize)
