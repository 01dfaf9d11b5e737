// The Matmul API's block: one matrix product on a cube core, asked for from there or by one of the
// block's vector cores.
#pragma once

#include <cstdint>

enum class DavElement : uint8_t { HALF, BFLOAT16, FLOAT, INT8, INT4, INT32, UINT8 };

// What is asked of a part of C: all of it, its sums (which stay in L0C), or those sums where C is.
enum class DavStep : uint8_t { WHOLE, PRODUCT, STORE };

// C[m, n] = A·B (+ bias), or a part of C. Sizes and strides in elements.
struct DavMatmul {
    const void* owner = nullptr;  // the object that asks
    DavStep step = DavStep::WHOLE;
    bool follows = false;  // the same operands as when the owner asked before
    bool partial = false;  // a PRODUCT onto the sums of the one before
    bool share_a = false;  // what L1 holds of A is good for other objects too (IBSHARE), and of B
    bool share_b = false;
    const void* a = nullptr;
    const void* b = nullptr;
    const void* bias = nullptr;
    void* c = nullptr;
    const uint64_t* quantize = nullptr;  // parameters by column, in global memory
    uint64_t quantize_scalar = 0;
    uint32_t quantize_mode = 0;
    DavElement type = DavElement::HALF;  // of A and B
    DavElement result = DavElement::HALF;
    bool a_turned = false;   // stored [k, m]
    bool b_turned = false;   // stored [n, k]
    bool a_fractal = false;  // stored as fractal columns (NZ), as are b and c
    bool b_fractal = false;
    bool c_fractal = false;
    bool half_bias = false;
    bool add = false;  // onto what C holds
    bool hf32 = false;
    bool relu = false;
    bool large_steps = false;   // copies of several base blocks (CFG_MDL)
    bool unit_flag = false;     // products and the fixpipe are ordered by unit flags
    bool fixed_tiling = false;  // the compiler knows the tiling
    bool reorder_k = false;     // each core begins at another part of k
    int32_t preload = 0;        // the next block's part comes early: 1 of A, 2 of B
    int32_t m = 0, n = 0, k = 0;
    int32_t a_stride = 0, b_stride = 0, c_stride = 0;  // of rows; of fractal columns: their rows
    int32_t first_m = 0, first_n = 0, count_m = 0, count_n = 0;  // the part of C
    bool has_next = false;  // a PRODUCT that starts there will follow
    int32_t next_m = 0, next_n = 0;
    // The tiling.
    int32_t base_m = 0, base_n = 0, base_k = 0;
    int32_t depth_a = 0, depth_b = 0, step_m = 1, step_n = 1, step_ka = 1, step_kb = 1;
    int32_t l0c_buffers = 1;
    bool n_first = false;
};

// On a cube core: does it now.
void dav_matmul(const DavMatmul& product);
// On a vector core of a block with a cube core: has that one do it, after what this core has
// written; answers a ticket for dav_matmul_wait.
int32_t dav_matmul_post(const DavMatmul& product);
void dav_matmul_wait(int32_t ticket);
// This vector core posts nothing more.
void dav_matmul_quit();
// On a cube core: serves its vector cores until all have quit. False at once when it has none.
bool dav_matmul_serve();
