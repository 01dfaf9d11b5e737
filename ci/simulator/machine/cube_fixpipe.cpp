// The fixpipe: takes a matrix from L0C, converts it, and puts it into global memory or L1.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "atomic.h"
#include "constants.h"
#include "conflicts.h"
#include "cube.h"
#include "gm.h"
#include "intrinsics_cube.h"

namespace dav {
namespace {

constexpr uint32_t COLUMNS = 16;  // of a fractal of L0C

// A quantisation parameter: scale with 10 bits of mantissa, right shift before, offset after.
struct Quantise {
    float scale;
    uint32_t shift;
    bool shifts;
    int32_t offset;
    bool is_signed;
    explicit Quantise(uint64_t word) {
        const auto bits = static_cast<uint32_t>(word) & ~0x1fffu;
        std::memcpy(&scale, &bits, sizeof(scale));
        shift = static_cast<uint32_t>(word >> 32 & 15) + 1;
        shifts = word >> 36 & 1;
        offset = static_cast<int32_t>(static_cast<int64_t>(word << 18) >> 55);  // nine bits, signed
        is_signed = word >> 46 & 1;
    }
};

float nearest_within(float value, float low, float high) {
    if (std::isnan(value)) return 0;
    return std::nearbyint(std::min(std::max(value, low), high));
}

float scaled(float value, const Quantise& parameter, bool relu) {
    return value < 0 && relu ? 0 : value * parameter.scale;
}
float shifted(int32_t value, const Quantise& parameter) {
    if (!parameter.shifts) return static_cast<float>(value);
    return static_cast<float>(std::min(std::max(value >> parameter.shift, -32768), 32767));
}
float shifted(float value, const Quantise&) { return value; }

// To 8 bits: 9 bits with the scale, then the offset, then the target's range.
template <typename S> uint8_t to_eight_bits(S value, const Quantise& parameter, bool relu) {
    const float wide = scaled(shifted(value, parameter), parameter, relu);
    const int32_t nine = static_cast<int32_t>(nearest_within(wide, -256, 255)) + parameter.offset;
    if (parameter.is_signed)
        return static_cast<uint8_t>(static_cast<int8_t>(std::min(std::max(nine, -128), 127)));
    return static_cast<uint8_t>(std::min(std::max(nine, 0), 255));
}

half to_half(float value) {
    constexpr float LARGEST = 65504;
    const bool keep_infinity = vector_state().control >> CTRL_KEEP_INFINITY & 1;
    if (!keep_infinity) {
        if (std::isnan(value)) return half(0);
        value = std::min(std::max(value, -LARGEST), LARGEST);
    }
    return static_cast<half>(value);
}

template <typename S>
void convert(half* to, S value, QuantMode_t, const Quantise& parameter, bool relu) {
    constexpr float LARGEST = 65504;
    if constexpr (std::is_same_v<S, int32_t>) {
        const float wide = scaled(shifted(value, parameter), parameter, relu);
        *to = static_cast<half>(std::min(std::max(wide, -LARGEST), LARGEST));
    } else {
        *to = to_half(relu && value < 0 ? 0 : value);
    }
}
template <typename S>
void convert(bfloat16_t* to, S value, QuantMode_t, const Quantise&, bool relu) {
    *to = bfloat16_t(float(relu && value < 0 ? 0 : value));
}
template <typename S>
void convert(int8_t* to, S value, QuantMode_t, const Quantise& parameter, bool relu) {
    *to = static_cast<int8_t>(to_eight_bits(value, parameter, relu));
}
template <typename S>
void convert(uint8_t* to, S value, QuantMode_t, const Quantise& parameter, bool relu) {
    *to = to_eight_bits(value, parameter, relu);
}
template <typename S>
void convert(int16_t* to, S value, QuantMode_t, const Quantise& parameter, bool relu) {
    const int32_t kept = relu && value < 0 ? 0 : static_cast<int32_t>(value);
    const int32_t small = kept >> parameter.shift;
    *to = static_cast<int16_t>(std::min(std::max(small, -32768), 32767));
}
inline void convert(float* to, float value, QuantMode_t, const Quantise&, bool relu) {
    *to = relu && value < 0 ? 0 : value;
}
inline void convert(int32_t* to, int32_t value, QuantMode_t, const Quantise&, bool relu) {
    *to = relu && value < 0 ? 0 : value;
}

bool by_column(QuantMode_t mode) {
    return mode == VDEQF16 || mode == VREQ8 || mode == VQF322B8_PRE || mode == VSHIFTS322S16;
}

struct Call {
    uint32_t n, m, dst_stride, src_stride;
    uint8_t unit_flag;
    QuantMode_t mode;
    bool relu, split_channels, row_major;
    Memory target;  // L1, or UB to mean global memory
    const char* mnemonic;
    const void* site;
};

// One matrix to be written: `lines` runs of elements, `stride` bytes apart.
template <typename T, typename S> class Fixpipe {
public:
    Fixpipe(T* dst, S* src, const Call& call) : dst_(dst), src_(src), call_(call) {}

    void run() {
        const uint64_t parameters = cube_state().nd_parameters;
        const uint32_t matrices = call_.row_major ? parameters & 0xffff : 1;
        const uint32_t src_step = parameters >> 16 & 0xffff;
        const uint32_t dst_step = parameters >> 32 & 0xffff;
        if (call_.m == 0 || call_.n == 0 || matrices == 0) {
            CubeIssue nothing(FIX, call_.mnemonic, call_.site);
            nothing.book(Formula::NOTHING);
            return;
        }
        for (uint32_t matrix = 0; matrix < matrices; ++matrix)
            one(dst_ + uint64_t(matrix) * dst_step,
                src_ + uint64_t(matrix) * src_step * FRACTAL_ROWS * COLUMNS);
    }

private:
    // Columns that one piece of 32 target bytes (or, for 32 bits, one fractal) holds.
    uint32_t group() const {
        if (sizeof(T) == 1) return 2 * COLUMNS;
        return sizeof(T) == 4 && call_.split_channels ? COLUMNS / 2 : COLUMNS;
    }
    uint32_t line_bytes() const {
        return (call_.row_major ? call_.n : group()) * uint32_t(sizeof(T));
    }
    uint32_t lines() const { return call_.row_major ? call_.m : divide_up(call_.n, group()); }
    // In bytes, between lines (rows) or between columns of fractals.
    uint64_t stride() const {
        return call_.row_major ? uint64_t(call_.dst_stride) * sizeof(T)
                               : uint64_t(call_.dst_stride) * BLOCK_BYTES;
    }

    void one(T* dst, S* src) {
        CubeIssue issue(FIX, call_.mnemonic, call_.site);
        issue.hazards().unit_flag(call_.unit_flag != 0);
        const uint32_t panels = divide_up(call_.n, COLUMNS);
        constexpr uint32_t ROW = COLUMNS * sizeof(S);
        const S* from = reinterpret_cast<const S*>(
            issue.read(Memory::L0C, src, {call_.m * ROW, panels, call_.src_stride * ROW}, 64));
        if (by_column(call_.mode)) {
            const auto address = cube_state().fixpipe_config >> 8 & 0xff;
            parameters_ = reinterpret_cast<const uint64_t*>(
                issue.read(Memory::FIXBUF, reinterpret_cast<void*>(address * 128),
                           {call_.n * uint32_t(sizeof(uint64_t))}, 128));
        }
        const uint32_t bytes = call_.row_major ? line_bytes() : line_bytes() * call_.m;
        const uint64_t source_bytes = uint64_t(call_.m) * panels * ROW;
        if (call_.target == Memory::L1) {
            uint8_t* to = issue.write(
                Memory::L1, dst, {bytes, lines(), static_cast<uint32_t>(stride())}, BLOCK_BYTES);
            issue.book(Formula::FIX_TO_L1, source_bytes, uint64_t(bytes) * lines());
            for (uint32_t line = 0; line < lines(); ++line) {
                fill(line, from);
                std::memcpy(to + line * stride(), buffer_.data(), bytes);
            }
            return;
        }
        dst = static_cast<T*>(behind_l2(dst));
        Transfer span{
            reinterpret_cast<uint64_t>(dst), stride(), bytes, lines(), true, false, Port::FROM_L0C};
        if (lines() == 1) span.stride = bytes;
        issue.global(span);
        issue.book_transfer(Work::of(Formula::FIX_TO_GM, source_bytes));
        store(reinterpret_cast<uint8_t*>(dst), span, from);
    }

    void store(uint8_t* to, const Transfer& span, const S* from) {
        Core& core = *current;
        const bool atomic = core.copies.atomic != AtomicOperation::NONE;
        bool changed = atomic;
        for (uint32_t line = 0; line < span.count; ++line) {
            fill(line, from);
            uint8_t* place = to + line * span.stride;
            if (atomic) {
                warn_unordered_sum(call_.site);
                combine(core.copies.atomic, core.copies.atomic_type, place,
                        reinterpret_cast<uint8_t*>(buffer_.data()), span.length);
            } else if (changed || std::memcmp(place, buffer_.data(), span.length) != 0) {
                changed = true;
                std::memcpy(place, buffer_.data(), span.length);
            }
        }
        note_shared(span, changed, call_.site, atomic);
    }

    void put(T* to, S value, uint32_t column) const {
        const Quantise parameter(parameters_ != nullptr ? parameters_[column]
                                                        : cube_state().quantize);
        convert(to, value, call_.mode, parameter, call_.relu);
    }

    // The elements of a line: a row of the result, or a column of fractals.
    void fill(uint32_t line, const S* from) {
        if (call_.row_major) {
            buffer_.resize(call_.n);
            for (uint32_t column = 0; column < call_.n; ++column)
                put(&buffer_[column],
                    from[(size_t(column / COLUMNS) * call_.src_stride + line) * COLUMNS +
                         column % COLUMNS],
                    column);
            return;
        }
        buffer_.assign(size_t(call_.m) * group(), T{});
        for (uint32_t row = 0; row < call_.m; ++row)
            for (uint32_t i = 0; i < group(); ++i) {
                const uint32_t column = line * group() + i;
                if (column >= divide_up(call_.n, COLUMNS) * COLUMNS) break;
                put(&buffer_[row * group() + i],
                    from[(size_t(column / COLUMNS) * call_.src_stride + row) * COLUMNS +
                         column % COLUMNS],
                    std::min(column, call_.n - 1));
            }
    }

    T* dst_;
    S* src_;
    Call call_;
    const uint64_t* parameters_ = nullptr;
    std::vector<T> buffer_;
};

// Whether this chip's fixpipe makes T of S in a mode: asc-devkit, the page on Fixpipe of L0C to GM.
template <typename T, typename S> bool converts(QuantMode_t mode) {
    if constexpr (std::is_same_v<T, S>) return mode == NoQuant;
    if constexpr (std::is_same_v<S, float>) {
        if (std::is_same_v<T, half>) return mode == F322F16;
        if (std::is_same_v<T, bfloat16_t>) return mode == F322BF16;
        return mode == QF322B8_PRE || mode == VQF322B8_PRE;
    }
    if (std::is_same_v<T, half>) return mode == DEQF16 || mode == VDEQF16;
    if (std::is_same_v<T, int16_t>)
        return mode == SHIFTS322S16 || mode == VSHIFTS322S16 || mode == DEQS16 || mode == VDEQS16;
    return mode == REQ8 || mode == VREQ8;
}

template <typename T, typename S> void fixpipe(T* dst, S* src, const Call& call) {
    if (passed_over(call.mnemonic, call.site)) return;
    if (!converts<T, S>(call.mode))
        fail(
            Outcome::LAUNCH_ERROR, call.site, nullptr,
            "%s does not convert elements of %zu bits to these of %zu in the mode %u on this chip.",
            call.mnemonic, sizeof(S) * 8, sizeof(T) * 8, unsigned(call.mode));
    Fixpipe<T, S>(dst, src, call).run();
}

}  // namespace
}  // namespace dav

using namespace dav;

#define DAV_FIXPIPE_TO(name, memory, TO, TC)                                                       \
    void name(TO* dst, TC* src, uint8_t, uint16_t n, uint16_t m, uint32_t dst_stride,              \
              uint16_t src_stride, uint8_t unit_flag, QuantMode_t mode, uint8_t relu,              \
              bool split_channels, bool row_major) {                                               \
        fixpipe<TO, TC>(dst, src,                                                                  \
                        {n, m, dst_stride, src_stride, unit_flag, mode, relu != 0, split_channels, \
                         row_major, memory, #name, __builtin_return_address(0)});                  \
    }
#define DAV_FIXPIPE(TO, TC)                                  \
    DAV_FIXPIPE_TO(copy_matrix_cc_to_gm, Memory::UB, TO, TC) \
    DAV_FIXPIPE_TO(copy_matrix_cc_to_cbuf, Memory::L1, TO, TC)
DAV_FIXPIPE(float, float)
DAV_FIXPIPE(half, float)
DAV_FIXPIPE(bfloat16_t, float)
DAV_FIXPIPE(int8_t, float)
DAV_FIXPIPE(uint8_t, float)
DAV_FIXPIPE(int32_t, int32_t)
DAV_FIXPIPE(half, int32_t)
DAV_FIXPIPE(int8_t, int32_t)
DAV_FIXPIPE(uint8_t, int32_t)
DAV_FIXPIPE(int16_t, int32_t)
