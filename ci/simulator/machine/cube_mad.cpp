// Matrix multiplication: unpacks L0A and L0B into row-major panels and multiplies those blockwise.
#include <algorithm>
#include <cstring>
#include <vector>

#include "constants.h"
#include "cube.h"
#include "eight_lanes.h"
#include "intrinsics_cube.h"

namespace dav {
namespace {

constexpr int CTRL_HF32 = 46;          // fp32 operands lose 12 bits of their mantissa
constexpr int CTRL_HF32_TO_ZERO = 47;  // ties go to zero, else to even
constexpr uint32_t COLUMNS = 16;       // of a panel of B and C
constexpr uint32_t SMALL = 10;         // fractals of C below which a sum needs a barrier before it

// A value as the multiplier takes it.
float widened(half value) { return static_cast<float>(value); }
float widened(bfloat16_t value) { return value; }

float to_hf32(float value, bool ties_to_zero) {
    uint32_t bits;
    std::memcpy(&bits, &value, sizeof(bits));
    if ((bits & 0x7f800000u) == 0x7f800000u) return value;
    const uint32_t odd = ties_to_zero ? 0 : bits >> 12 & 1;
    bits = (bits + 0x7ff + odd) & ~0xfffu;
    std::memcpy(&value, &bits, sizeof(bits));
    return value;
}

struct FloatMeaning {
    using Element = float;
    using Sum = float;
    static constexpr uint32_t GROUP = 1;  // values of k in an element of a panel
};

// 16-bit integers, two of k together.
struct IntegerMeaning {
    using Element = int32_t;
    using Sum = int32_t;
    static constexpr uint32_t GROUP = 2;
};

// ROWS rows of C (16 columns each, one after the other) += rows of A times a panel of B.
template <int ROWS, typename T>
void multiply_rows(T* c, const T* a, uint32_t stride, const T* b, uint32_t depth) {
    decltype(load(c)) left[ROWS];
    decltype(load(c)) right[ROWS];
#pragma GCC unroll 8
    for (int row = 0; row < ROWS; ++row) {
        left[row] = load(c + row * COLUMNS);
        right[row] = load(c + row * COLUMNS + 8);
    }
    for (uint32_t k = 0; k < depth; ++k) {
        const auto first = load(b + k * COLUMNS);
        const auto second = load(b + k * COLUMNS + 8);
#pragma GCC unroll 8
        for (int row = 0; row < ROWS; ++row) {
            const auto value = broadcast(a + row * stride + k);
            left[row] = multiply_add(value, first, left[row]);
            right[row] = multiply_add(value, second, right[row]);
        }
    }
#pragma GCC unroll 8
    for (int row = 0; row < ROWS; ++row) {
        store(c + row * COLUMNS, left[row]);
        store(c + row * COLUMNS + 8, right[row]);
    }
}

template <typename T>
void multiply_panel(T* c, const T* a, uint32_t rows, const T* b, uint32_t depth) {
    uint32_t row = 0;
    for (; row + 6 <= rows; row += 6)
        multiply_rows<6>(c + row * COLUMNS, a + row * depth, depth, b, depth);
    for (; row + 2 <= rows; row += 2)
        multiply_rows<2>(c + row * COLUMNS, a + row * depth, depth, b, depth);
    for (; row < rows; ++row) multiply_rows<1>(c + row * COLUMNS, a + row * depth, depth, b, depth);
}

// The operands of a product as the instruction gives them.
struct Shape {
    uint32_t m, k, n;
    uint32_t c0;        // elements of k in a fractal
    uint32_t k_blocks;  // fractals along k in L0A and L0B
    bool vector;        // m is 1: A is a plain row of k elements
};

// Where element (row, k) of A lies, counted in elements; k a multiple of c0 starts 32 bytes.
uint32_t place_in_a(const Shape& shape, uint32_t row, uint32_t k) {
    if (shape.vector) return k;
    const uint32_t fractal = row / FRACTAL_ROWS * shape.k_blocks + k / shape.c0;
    return (fractal * FRACTAL_ROWS + row % FRACTAL_ROWS) * shape.c0;
}
uint32_t place_in_b(const Shape& shape, uint32_t column, uint32_t k) {
    const uint32_t fractal = k / shape.c0 * divide_up(shape.n, COLUMNS) + column / COLUMNS;
    return (fractal * COLUMNS + column % COLUMNS) * shape.c0;
}

template <typename T, typename Convert>
void unpack_floats(const Shape& shape, const T* a, const T* b, std::vector<float>& rows,
                   std::vector<float>& panels, Convert convert) {
    rows.resize(size_t(shape.m) * shape.k);
    const uint32_t panel_count = divide_up(shape.n, COLUMNS);
    panels.assign(size_t(panel_count) * shape.k * COLUMNS, 0);
    for (uint32_t row = 0; row < shape.m; ++row)
        for (uint32_t k = 0; k < shape.k; k += shape.c0) {
            const T* from = a + place_in_a(shape, row, k);
            float* to = rows.data() + size_t(row) * shape.k + k;
            const uint32_t count = std::min(shape.c0, shape.k - k);
            for (uint32_t i = 0; i < count; ++i) to[i] = convert(from[i]);
        }
    for (uint32_t column = 0; column < shape.n; ++column)
        for (uint32_t k = 0; k < shape.k; k += shape.c0) {
            const T* from = b + place_in_b(shape, column, k);
            float* to = panels.data() + (size_t(column / COLUMNS) * shape.k + k) * COLUMNS +
                        column % COLUMNS;
            const uint32_t count = std::min(shape.c0, shape.k - k);
            for (uint32_t i = 0; i < count; ++i) to[i * COLUMNS] = convert(from[i]);
        }
}

// `at(base, element)` reads an integer; pairs along k go into one 32-bit element.
template <typename Read>
void unpack_integers(const Shape& shape, const uint8_t* a, const uint8_t* b,
                     std::vector<int32_t>& rows, std::vector<int32_t>& panels, Read read) {
    const uint32_t depth = divide_up(shape.k, 2);
    rows.assign(size_t(shape.m) * depth, 0);
    const uint32_t panel_count = divide_up(shape.n, COLUMNS);
    panels.assign(size_t(panel_count) * depth * COLUMNS, 0);
    const auto pair = [&](const uint8_t* base, uint32_t place, uint32_t k) {
        const int16_t low = read(base, place);
        const int16_t high = k + 1 < shape.k ? read(base, place + 1) : int16_t(0);
        return static_cast<int32_t>(uint32_t(uint16_t(low)) | uint32_t(uint16_t(high)) << 16);
    };
    for (uint32_t row = 0; row < shape.m; ++row)
        for (uint32_t k = 0; k < shape.k; k += 2) {
            const uint32_t place = place_in_a(shape, row, k / shape.c0 * shape.c0) + k % shape.c0;
            rows[size_t(row) * depth + k / 2] = pair(a, place, k);
        }
    for (uint32_t column = 0; column < shape.n; ++column)
        for (uint32_t k = 0; k < shape.k; k += 2) {
            const uint32_t place = place_in_b(shape, column, k) + k % shape.c0;
            panels[(size_t(column / COLUMNS) * depth + k / 2) * COLUMNS + column % COLUMNS] =
                pair(b, place, k);
        }
}

template <typename T>
void multiply(const Shape& shape, T* c, const std::vector<T>& rows, const std::vector<T>& panels,
              uint32_t depth) {
    const size_t column_rows = size_t(divide_up(shape.m, FRACTAL_ROWS)) * FRACTAL_ROWS;
    for (uint32_t panel = 0; panel < divide_up(shape.n, COLUMNS); ++panel)
        multiply_panel(c + panel * column_rows * COLUMNS, rows.data(), shape.m,
                       panels.data() + size_t(panel) * depth * COLUMNS, depth);
}

// What C holds before the sum.
enum class Start { KEEP, ZERO, BIAS };

template <typename T> void initialise(const Shape& shape, T* c, Start start, const T* bias) {
    if (start == Start::KEEP) return;
    const size_t column_rows = size_t(divide_up(shape.m, FRACTAL_ROWS)) * FRACTAL_ROWS;
    for (uint32_t panel = 0; panel < divide_up(shape.n, COLUMNS); ++panel)
        for (uint32_t row = 0; row < shape.m; ++row) {
            T* to = c + (panel * column_rows + row) * COLUMNS;
            if (start == Start::ZERO)
                std::memset(to, 0, COLUMNS * sizeof(T));
            else
                std::memcpy(to, bias + panel * COLUMNS, COLUMNS * sizeof(T));
        }
}

struct Call {
    const char* mnemonic;
    void* c;
    void* a;
    void* b;
    uint64_t bias;
    Shape shape;
    uint32_t element_bits;
    Formula formula;
    uint8_t unit_flag;
    bool from_bias;
    bool zero_first;
    const void* site;
};

// Where the checked operands lie on this host.
struct Places {
    uint8_t* c;
    uint8_t* a;
    uint8_t* b;
    uint8_t* bias;
    Start start;
};

bool issue(const Call& call, Places& places) {
    if (passed_over(call.mnemonic, call.site)) return false;
    const Shape& shape = call.shape;
    if (shape.m == 0 || shape.n == 0 || shape.k == 0) {
        CubeIssue nothing(M, call.mnemonic, call.site);
        nothing.book(Formula::NOTHING);
        return false;
    }
    const uint32_t rows = divide_up(shape.m, FRACTAL_ROWS);
    const uint32_t panels = divide_up(shape.n, COLUMNS);
    const uint32_t k_read = divide_up(shape.k, shape.c0);
    CubeIssue cube(M, call.mnemonic, call.site);
    const Pieces row{k_read * FRACTAL_BYTES, rows, shape.k_blocks * FRACTAL_BYTES};
    const Pieces plain{divide_up(shape.k * call.element_bits, 8 * BLOCK_BYTES) * BLOCK_BYTES};
    places.a = cube.read(Memory::L0A, call.a, shape.vector ? plain : row, FRACTAL_BYTES);
    places.b = cube.read(Memory::L0B, call.b, {k_read * panels * FRACTAL_BYTES}, FRACTAL_BYTES);
    const Pieces result{rows * panels * 2 * FRACTAL_BYTES};
    places.start = call.from_bias ? Start::BIAS : call.zero_first ? Start::ZERO : Start::KEEP;
    const bool flagged = call.unit_flag != 0;
    cube.hazards().unit_flag(flagged);
    if (places.start == Start::KEEP) {
        cube.hazards().sum(rows * panels < SMALL);
        cube.read(Memory::L0C, call.c, result, 64);
    }
    if (places.start == Start::BIAS)
        places.bias =
            cube.read(Memory::BIAS, reinterpret_cast<void*>(call.bias), {panels * COLUMNS * 4}, 64);
    places.c = cube.write(Memory::L0C, call.c, result, 64);
    cube.book(call.formula, rows * panels * k_read);
    return true;
}

template <typename T> Shape shape_of(uint16_t m, uint16_t k, uint16_t n, bool align_k) {
    constexpr uint32_t c0 = c0_of<T>();
    const uint32_t step = align_k && sizeof(T) == 4 ? 2 * c0 : c0;
    return {m, k, n, c0, divide_up(k, step) * (step / c0), m == 1};
}

template <typename T, typename Convert> void mad_floats(Call call, Convert convert) {
    static std::vector<float> rows;
    static std::vector<float> panels;
    Places places{};
    if (!issue(call, places)) return;
    auto* c = reinterpret_cast<float*>(places.c);
    initialise(call.shape, c, places.start, reinterpret_cast<float*>(places.bias));
    unpack_floats(call.shape, reinterpret_cast<const T*>(places.a),
                  reinterpret_cast<const T*>(places.b), rows, panels, convert);
    multiply(call.shape, c, rows, panels, call.shape.k);
}

template <typename Read> void mad_integers(Call call, Read read) {
    static std::vector<int32_t> rows;
    static std::vector<int32_t> panels;
    Places places{};
    if (!issue(call, places)) return;
    auto* c = reinterpret_cast<int32_t*>(places.c);
    initialise(call.shape, c, places.start, reinterpret_cast<int32_t*>(places.bias));
    unpack_integers(call.shape, places.a, places.b, rows, panels, read);
    multiply(call.shape, c, rows, panels, divide_up(call.shape.k, 2));
}

void run(Call call, half*) {
    mad_floats<half>(call, [](half value) { return widened(value); });
}
void run(Call call, bfloat16_t*) {
    mad_floats<bfloat16_t>(call, [](bfloat16_t value) { return widened(value); });
}
void run(Call call, float*) {
    const uint64_t control = vector_state().control;
    const bool hf32 = control >> CTRL_HF32 & 1;
    const bool to_zero = control >> CTRL_HF32_TO_ZERO & 1;
    call.formula = hf32 ? Formula::CUBE_HF32 : Formula::CUBE_FP32;
    if (hf32)
        mad_floats<float>(call, [to_zero](float value) { return to_hf32(value, to_zero); });
    else
        mad_floats<float>(call, [](float value) { return value; });
}
void run(Call call, int8_t*) {
    mad_integers(call, [](const uint8_t* base, uint32_t place) {
        return int16_t(static_cast<int8_t>(base[place]));
    });
}

}  // namespace
}  // namespace dav

using namespace dav;

#define DAV_MAD(TC, TA)                                                                           \
    void mad(__cc__ TC* c, __ca__ TA* a, __cb__ TA* b, uint64_t bias, uint16_t m, uint16_t k,     \
             uint16_t n, uint8_t unit_flag, bool align_k, bool from_bias, bool zero_first) {      \
        run({"mad", c, a, b, bias, shape_of<TA>(m, k, n, align_k), 8 * sizeof(TA), Formula::CUBE, \
             unit_flag, from_bias, zero_first, __builtin_return_address(0)},                      \
            a);                                                                                   \
    }                                                                                             \
    void mad(__cc__ TC* c, __ca__ TA* a, __cb__ TA* b, uint16_t m, uint16_t k, uint16_t n,        \
             uint8_t unit_flag, bool align_k, bool from_bias, bool zero_first) {                  \
        /* Without an operand of its own the bias's address is the upper half of C's. */          \
        const uint64_t bias = reinterpret_cast<uint64_t>(c) >> 32;                                \
        run({"mad", reinterpret_cast<void*>(reinterpret_cast<uint64_t>(c) & 0xffffffff), a, b,    \
             bias, shape_of<TA>(m, k, n, align_k), 8 * sizeof(TA), Formula::CUBE, unit_flag,      \
             from_bias, zero_first, __builtin_return_address(0)},                                 \
            a);                                                                                   \
    }
DAV_MAD(float, half)
DAV_MAD(float, bfloat16_t)
DAV_MAD(float, float)
DAV_MAD(int32_t, int8_t)

void mad_s4(__cc__ int32_t* c, __ca__ void* a, __cb__ void* b, uint16_t m, uint16_t k, uint16_t n,
            uint8_t unit_flag, bool, bool from_bias, bool zero_first) {
    constexpr uint32_t C0 = 64;
    const Shape shape{m, k, n, C0, divide_up(k, C0), m == 1};
    mad_integers({"mad_s4", c, a, b, 0, shape, 4, Formula::CUBE, unit_flag, from_bias, zero_first,
                  __builtin_return_address(0)},
                 [](const uint8_t* base, uint32_t place) {
                     const uint8_t both = base[place / 2];
                     return int16_t(place & 1 ? static_cast<int8_t>(both) >> 4
                                              : static_cast<int8_t>(both << 4) >> 4);
                 });
}
