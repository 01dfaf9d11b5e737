#include "matmul_state.h"

#include <map>

namespace dav {
namespace {

std::map<int, MatmulState> states;  // by block

bool meets(const WaitingBlock& block, uint32_t from, uint32_t bytes) {
    return block.computed && block.from < from + bytes && from < block.from + block.bytes;
}

}  // namespace

MatmulState& matmul_state() { return states[current->block]; }

WaitingBlock* MatmulState::block_of(const void* object) {
    for (WaitingBlock& block : waiting)
        if (block.owner == object) return &block;
    return nullptr;
}

void MatmulState::forget(const void* object) {
    waiting.remove_if([&](const WaitingBlock& block) { return block.owner == object; });
}

bool MatmulState::free(uint32_t from, uint32_t bytes) const {
    for (const WaitingBlock& block : waiting)
        if (meets(block, from, bytes)) return false;
    return true;
}

void MatmulState::make_room(uint32_t from, uint32_t bytes) {
    for (WaitingBlock& block : waiting)
        if (meets(block, from, bytes)) block.computed = false;
}

}  // namespace dav
