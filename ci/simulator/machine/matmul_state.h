// What the Matmul API keeps on a cube core between its calls: operands in L1, and blocks of C that
// Iterate has computed and GetTensorC has not fetched.
#pragma once

#include <list>
#include <vector>

#include "intrinsics_matmul.h"
#include "matmul_tiles.h"

namespace dav {

// A block of C between Iterate and GetTensorC.
struct WaitingBlock {
    const void* owner;
    // The products that make it: one, and those that Iterate added to it.
    std::vector<DavMatmul> parts;
    bool computed = false;  // and then in L0C:
    uint32_t from = 0;
    uint32_t bytes = 0;
};

struct MatmulState {
    const void* owner = nullptr;  // the object whose operands lie in L1
    Tiles a, b;
    uint32_t part_a = 0, part_b = 0, part_c = 0;  // halves of L0A, L0B and L0C to be used next
    std::list<WaitingBlock> waiting;

    WaitingBlock* block_of(const void* object);
    void forget(const void* object);
    // True when no waiting block of C lies there.
    bool free(uint32_t from, uint32_t bytes) const;
    // Blocks that lie there are computed anew when they are fetched.
    void make_room(uint32_t from, uint32_t bytes);
};

// Of the running core's block.
MatmulState& matmul_state();

}  // namespace dav
