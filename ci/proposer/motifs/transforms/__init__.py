"""Named transforms for motifs that need flow analysis; one a file, each with a `find`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias

from ci.proposer.motifs.match import Match
from ci.proposer.motifs.transforms import (
    add_barrier,
    align_tile,
    bank_offset,
    barrier_and_flag,
    cache_hint,
    drop_padding,
    early_release,
    halve_and_double,
    hoist_invariant,
    hoist_to_init,
    late_release,
    load_once,
    merge_copies,
    plain_copy,
    queue_depth,
    reduce_to_element,
    remove_barrier,
    remove_flag_pair,
    rows_to_one,
    scale_constant,
    share_buffer,
    sink_into_loop,
    split_calls,
    spread_small_inputs,
)
from ci.source.cpp_source import Source

Transform: TypeAlias = Callable[[Source, Mapping[str, object]], list[Match]]

TRANSFORMS: dict[str, Transform] = {
    "add_barrier": add_barrier.find,
    "align_tile": align_tile.find,
    "bank_offset": bank_offset.find,
    "barrier_to_flag": barrier_and_flag.to_flag,
    "cache_hint": cache_hint.find,
    "drop_padding": drop_padding.find,
    "early_release": early_release.find,
    "flag_to_barrier": barrier_and_flag.to_barrier,
    "halve_and_double": halve_and_double.find,
    "hoist_invariant": hoist_invariant.find,
    "hoist_to_init": hoist_to_init.find,
    "late_release": late_release.find,
    "load_each_turn": load_once.sink,
    "load_once": load_once.hoist,
    "merge_copies": merge_copies.find,
    "plain_copy": plain_copy.find,
    "queue_depth": queue_depth.find,
    "reduce_to_element": reduce_to_element.find,
    "remove_barrier": remove_barrier.find,
    "remove_flag_pair": remove_flag_pair.find,
    "rows_to_one": rows_to_one.find,
    "scale_constant": scale_constant.find,
    "share_buffer": share_buffer.find,
    "sink_into_loop": sink_into_loop.find,
    "split_calls": split_calls.find,
    "spread_small_inputs": spread_small_inputs.find,
}
