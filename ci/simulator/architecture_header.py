"""What the machine's and the kernels' sources know of an architecture, as a C++ header."""

from __future__ import annotations

from rules.architectures import Architecture

NAME = "architecture.h"

_ROUND = 0x10000  # local offsets of a core end at a multiple of it


def header_text(architecture: Architecture) -> str:
    """The text of `architecture.h`: memories by local offset, and the sizes of what is moved."""
    memories = architecture.memories
    places = "".join(f'    {{"{one.words}", {one.offset:#x}, {one.bytes}}},\n' for one in memories)
    sizes = "".join(f"constexpr uint32_t {one.id}_BYTES = {one.bytes};\n" for one in memories)
    end = -(-max(one.offset + one.bytes for one in memories) // _ROUND) * _ROUND
    return f"""// Generated from rules/architectures/{architecture.name}.toml.
#pragma once

#include <cstdint>

namespace dav {{

enum class Memory : uint8_t {{ {", ".join(one.id for one in memories)} }};
struct MemoryPlace {{
    const char* name;
    uint32_t start;  // local offset
    uint32_t bytes;
}};
constexpr MemoryPlace MEMORIES[] = {{
{places}}};
{sizes}constexpr uint32_t LOCAL_BYTES = {end:#x};  // local offsets of a cube core
constexpr uint32_t BLOCK_BYTES = {architecture.block_bytes};
constexpr uint32_t REPEAT_BYTES = {architecture.repeat_bytes};
constexpr uint32_t BANK_GROUPS = {architecture.bank_groups};
constexpr uint64_t LINE_BYTES = {architecture.line_bytes};
constexpr uint64_t WINDOW_BYTES = {architecture.window_bytes};

}}  // namespace dav
"""
