"""Named transforms for motifs that need flow analysis; a motif calls a function by its name."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TypeAlias

from ci.proposer.motifs.match import Match
from ci.proposer.motifs.transforms import (
    banks,
    barriers,
    buffers,
    copies,
    cores,
    depths,
    elements,
    fills,
    hoisting,
    prefetch,
    releases,
    rows,
    scalars,
    stores,
    strided,
    throughs,
    tiling,
)
from ci.source.cpp_source import Source

Halves: TypeAlias = Mapping[str, Source]
JointTransform: TypeAlias = Callable[
    [Halves, Halves, Mapping[str, object]], Iterator[Mapping[str, Match]]
]
"""A transform of the host's and the kernel's sources by path: what changes together, the
main file first."""

Transform: TypeAlias = Callable[[Source, Mapping[str, object]], Iterator[Match]]

TRANSFORMS: dict[str, Transform] = {
    find.__name__: find
    for find in (
        banks.part_operands,
        barriers.add_barrier,
        barriers.barrier_to_flag,
        barriers.flag_to_barrier,
        barriers.remove_barrier,
        barriers.remove_flag_pair,
        buffers.bank_offset,
        buffers.drop_padding,
        buffers.halve_and_double,
        buffers.queue_depth,
        buffers.share_buffer,
        copies.cache_hint,
        copies.plain_copy,
        fills.share_fills,
        hoisting.hoist_invariant,
        hoisting.hoist_to_init,
        hoisting.load_each_turn,
        hoisting.load_once,
        hoisting.sink_into_loop,
        prefetch.prefetch,
        releases.early_release,
        releases.late_release,
        rows.merge_copies,
        rows.reduce_to_element,
        rows.rows_to_one,
        rows.split_calls,
        scalars.late_scalar_read,
        stores.late_store_wait,
        strided.strided_stores,
        throughs.copies_through,
        tiling.align_tile,
        tiling.scale_constant,
        tiling.spread_small_inputs,
    )
}

JOINT_TRANSFORMS: dict[str, JointTransform] = {
    find.__name__: find
    for find in (
        banks.part_operands_with_room,
        cores.split_over_cores,
        depths.deeper_queues_with_room,
        elements.elements_to_tiles,
    )
}
