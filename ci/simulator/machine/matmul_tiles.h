// Tiles of a product's operands in L1, which stay there from call to call of the Matmul API.
#pragma once

#include <cstdint>
#include <tuple>
#include <utility>
#include <vector>

#include "cube.h"

namespace dav {

inline uint32_t up(uint32_t value, uint32_t to) { return divide_up(value, to) * to; }

// A rectangle of a matrix.
struct Window {
    uint32_t row, rows, column, columns;
};

// Which operand tiles are of, how they are cut, and where they lie.
struct TileKey {
    const void* matrix = nullptr;
    uint32_t stride = 0;
    bool turned = false;
    bool fractal = false;
    uint32_t width = 0;  // of the operand along m (n), and along k
    uint32_t depth = 0;
    uint32_t tile_width = 0;
    uint32_t tile_depth = 0;
    uint32_t start = 0;
    uint32_t bytes = 0;
    uint32_t slots = 0;
    bool operator==(const TileKey& other) const { return parts() == other.parts(); }

private:
    std::tuple<const void*, uint32_t, bool, bool, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t,
               uint32_t, uint32_t>
    parts() const {
        return {matrix,     stride,     turned, fractal, width, depth,
                tile_width, tile_depth, start,  bytes,   slots};
    }
};

// Tiles of one operand in L1: slots of equal size, the least recently used goes first.
class Tiles {
public:
    // Starts anew, unless `keep` says that what lies there is what the key names.
    void lay(const TileKey& key, bool keep) {
        if (keep && key == key_) return;
        key_ = key;
        held_.assign(key.slots, {~0u, ~0u});
        used_.assign(key.slots, 0);
    }
    // Where the tile lies, and whether it has to be loaded first.
    uint32_t find(uint32_t row, uint32_t column, bool& load) {
        size_t oldest = 0;
        for (size_t slot = 0; slot < held_.size(); ++slot) {
            if (held_[slot] == std::make_pair(row, column)) {
                used_[slot] = ++time_;
                load = false;
                return at(slot);
            }
            if (used_[slot] < used_[oldest]) oldest = slot;
        }
        held_[oldest] = {row, column};
        used_[oldest] = ++time_;
        load = true;
        return at(oldest);
    }
    const TileKey& key() const { return key_; }

private:
    uint32_t at(size_t slot) const { return key_.start + static_cast<uint32_t>(slot) * key_.bytes; }
    TileKey key_;
    uint64_t time_ = 0;
    std::vector<std::pair<uint32_t, uint32_t>> held_;
    std::vector<uint64_t> used_;
};

}  // namespace dav
