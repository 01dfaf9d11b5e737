// Tiling structures of the high-level API, which host tilings nest in their own. On the device
// they are plain data; field order and types are those of the host side.
#pragma once

#include <cstdint>

struct SoftMaxTiling {
    uint32_t srcM;
    uint32_t srcK;
    uint32_t srcSize;
    uint32_t outMaxM;
    uint32_t outMaxK;
    uint32_t outMaxSize;
    uint32_t splitM;
    uint32_t splitK;
    uint32_t splitSize;
    uint32_t reduceM;
    uint32_t reduceK;
    uint32_t reduceSize;
    uint32_t rangeM;
    uint32_t tailM;
    uint32_t tailSplitSize;
    uint32_t tailReduceSize;
};
