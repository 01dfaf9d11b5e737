// What the instructions of the cube core share: checking operands in its memories, booking them.
//
// Layouts, with C0 = 32 bytes of elements and a fractal of 512 bytes: L0A holds A as Zz (fractals
// row by row, 16 rows of C0 each), L0B holds B as Zn (fractals row by row, 16 columns of C0 each),
// L0C holds C as Nz (fractals column by column, 16 rows of 16).
#pragma once

#include <cstdint>

#include "hazard.h"
#include "machine.h"
#include "memory.h"

namespace dav {

constexpr uint32_t FRACTAL_BYTES = 512;
constexpr uint32_t FRACTAL_ROWS = 16;

inline uint32_t divide_up(uint32_t value, uint32_t by) { return (value + by - 1) / by; }

// Elements in 32 bytes.
template <typename T> constexpr uint32_t c0_of() { return BLOCK_BYTES / sizeof(T); }

// A local operand: `count` pieces of `length` bytes, `stride` bytes apart.
struct Pieces {
    uint32_t length;
    uint32_t count = 1;
    uint32_t stride = 0;
    uint64_t extent() const { return count == 0 ? 0 : uint64_t(count - 1) * stride + length; }
};

// True on a vector core, whose compiler leaves cube instructions out.
bool passed_over(const char* mnemonic, const void* site);

// One instruction of the cube core: name its operands, then book it, then compute.
class CubeIssue {
public:
    CubeIssue(int pipe, const char* mnemonic, const void* site)
        : pipe_(pipe), mnemonic_(mnemonic), site_(site), hazards_(pipe, mnemonic, site) {}
    // Check an operand; answer where it starts in this host's memory. `tensor` is where the tensor
    // starts that it is a part of; null where more may be named than is touched.
    uint8_t* read(Memory memory, const void* address, const Pieces& pieces, uint32_t alignment,
                  const void* tensor);
    uint8_t* write(Memory memory, const void* address, const Pieces& pieces, uint32_t alignment,
                   const void* tensor);
    uint8_t* read(Memory memory, const void* address, const Pieces& pieces, uint32_t alignment) {
        return read(memory, address, pieces, alignment, address);
    }
    uint8_t* write(Memory memory, const void* address, const Pieces& pieces, uint32_t alignment) {
        return write(memory, address, pieces, alignment, address);
    }
    // The other side is global memory.
    void global(const Transfer& span);
    Hazards& hazards() { return hazards_; }
    // Books it as work, or as the copy that global() named, which takes as long as the work `least`
    // at least.
    uint32_t book(Formula formula, uint64_t amount = 0, uint64_t second = 0);
    uint32_t book_transfer(const Work& least = {});

private:
    struct Operand {
        uint32_t offset;
        Pieces pieces;
        bool write;
    };
    uint8_t* operand(Memory memory, const void* address, const Pieces& pieces, uint32_t alignment,
                     const void* tensor, bool write);
    uint32_t append_and_mark(Record record);

    int pipe_;
    const char* mnemonic_;
    const void* site_;
    Hazards hazards_;
    Operand operands_[6];
    int count_ = 0;
    Transfer span_{};
    bool global_ = false;
};

// Matrices to be turned from row-major to Nz; all in bytes but rows and counts.
struct NdToNz {
    uint32_t matrices;
    uint32_t rows;
    uint32_t row_bytes;
    uint32_t src_matrix_stride;
    uint32_t src_row_stride;
    uint32_t dst_c0_stride;
    uint32_t dst_row_stride;
    uint32_t dst_matrix_stride;
};

void nd_to_nz(const char* mnemonic, void* dst, void* src, const NdToNz& shape, const void* site);

// While it lives, the running core's instructions wait exactly for what they depend on, without
// flags, and bear one code address.
class OrderedByData {
public:
    explicit OrderedByData(const void* site) {
        current->ordered_by_data = true;
        current->site = site;
    }
    ~OrderedByData() {
        current->ordered_by_data = false;
        current->site = nullptr;
    }
    OrderedByData(const OrderedByData&) = delete;
};

// Registers of the running core.
CubeState& cube_state();

}  // namespace dav
