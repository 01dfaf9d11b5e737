"""What copies between memories and the cube core's instructions compute, as one table.

The counterpart of `vector_table.py`: each row names an instruction and gives its meaning in numpy
on the bytes of the memories that it touches. Tests draw arguments and contents for every row and
compare the machine with it.
"""

from __future__ import annotations

from typing import Final

from lab.reference.transfer_rows import copies, loads, products
from lab.reference.transfer_rows.base import TransferRow

TRANSFERS: Final[tuple[TransferRow, ...]] = (*copies.rows(), *loads.rows(), *products.rows())
"""Every copy and cube instruction, each overload or mode a row."""
