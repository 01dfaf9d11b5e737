// Image to column: a feature map in L1 (NC1HWC0) becomes a matrix of which a part goes to L0A or
// L0B.
//
// Row m of the matrix is an output pixel, column k a channel of a filter point: k counts channels
// within C0, then filter points row by row, then C1. L0A gets it as Zz, or its transpose; L0B
// always gets what makes m the depth of the product.
#include <algorithm>
#include <cstring>

#include "constants.h"
#include "cube.h"
#include "intrinsics_cube.h"

namespace dav {
namespace {

struct Filter {
    uint32_t k_extension, m_extension, k_start, m_start;
    uint32_t stride_w, stride_h, width, height, dilation_w, dilation_h;
    uint32_t channels;
    bool transpose;
};

// The feature map as the register describes it.
struct FeatureMap {
    uint32_t width, height, left, right, top, bottom;
    explicit FeatureMap(uint64_t config)
        : width(config & 0xffff), height(config >> 16 & 0xffff), left(config >> 32 & 0xff),
          right(config >> 40 & 0xff), top(config >> 48 & 0xff), bottom(config >> 56 & 0xff) {}
};

uint32_t outputs(uint32_t size, uint32_t before, uint32_t after, uint32_t filter, uint32_t dilation,
                 uint32_t stride) {
    const uint32_t covered = (filter - 1) * dilation + 1;
    const uint32_t padded = size + before + after;
    return padded < covered || stride == 0 ? 0 : (padded - covered) / stride + 1;
}

// A T may hold PACKED elements: two of 4 bits.
template <typename T, uint32_t PACKED = 1>
void image_to_column(const char* mnemonic, Memory memory, T* dst, T* src, const Filter& filter,
                     bool from_b, const void* site) {
    constexpr uint32_t C0 = c0_of<T>();
    constexpr uint32_t CHANNELS = C0 * PACKED;  // of 32 bytes
    if (passed_over(mnemonic, site)) return;
    const CubeState& state = cube_state();
    const FeatureMap map(state.feature_map[from_b ? 1 : 0]);
    CubeIssue load(MTE1, mnemonic, site);
    if (filter.k_extension == 0 || filter.m_extension == 0 || filter.channels == 0 ||
        filter.width == 0 || filter.height == 0 || map.width == 0 || map.height == 0) {
        load.book(Formula::NOTHING);
        return;
    }
    const bool to_a = memory == Memory::L0A;
    const bool turned = !to_a || filter.transpose;  // m runs within 32 bytes
    if (turned && sizeof(T) == 1)
        fail(Outcome::LAUNCH_ERROR, site, nullptr, "%s does not transpose elements of %u bits.",
             mnemonic, 8 / PACKED);
    const uint32_t out_width =
        outputs(map.width, map.left, map.right, filter.width, filter.dilation_w, filter.stride_w);
    const uint32_t out_height =
        outputs(map.height, map.top, map.bottom, filter.height, filter.dilation_h, filter.stride_h);
    const uint32_t pixels = out_width * out_height;
    const uint32_t c1 = divide_up(filter.channels, CHANNELS);
    const uint32_t map_bytes = map.width * map.height * BLOCK_BYTES;
    // Pieces of the target: fractals of 16 × C0, along k and along m.
    const uint32_t k_unit = turned ? FRACTAL_ROWS : CHANNELS;
    const uint32_t m_unit = turned ? C0 : FRACTAL_ROWS;
    const uint32_t k_blocks = divide_up(filter.k_extension, k_unit);
    const uint32_t m_blocks =
        divide_up(divide_up(filter.m_extension, FRACTAL_ROWS) * FRACTAL_ROWS, m_unit);
    const uint8_t* from =
        load.read(Memory::L1, src, {std::min(map_bytes * c1, place_of(Memory::L1).bytes)},
                  BLOCK_BYTES, nullptr);
    uint8_t* to = load.write(memory, dst, {k_blocks * m_blocks * FRACTAL_BYTES}, FRACTAL_BYTES);
    const uint64_t bytes = uint64_t(k_blocks) * m_blocks * FRACTAL_BYTES;
    load.book(Formula::LOAD_IMAGE, bytes);
    T padding;
    std::memcpy(&padding, &state.padding, sizeof(T));
    // 32 bytes of the source for output pixel `m` and the C0 channels that start at `k`; null: pad.
    const auto source = [&](uint32_t m, uint32_t k) -> const T* {
        const uint32_t group = k / CHANNELS;
        const uint32_t point = group % (filter.width * filter.height);
        const uint32_t channel = group / (filter.width * filter.height);
        if (m >= pixels || channel >= c1) return nullptr;
        const int64_t y = int64_t(m / out_width) * filter.stride_h - map.top +
                          int64_t(point / filter.width) * filter.dilation_h;
        const int64_t x = int64_t(m % out_width) * filter.stride_w - map.left +
                          int64_t(point % filter.width) * filter.dilation_w;
        if (y < 0 || x < 0 || y >= map.height || x >= map.width) return nullptr;
        return reinterpret_cast<const T*>(from + uint64_t(channel) * map_bytes +
                                          uint64_t(y * map.width + x) * BLOCK_BYTES);
    };
    const uint32_t k_groups = divide_up(filter.k_extension, CHANNELS);
    for (uint32_t group = 0; group < k_groups; ++group)
        for (uint32_t m = 0; m < filter.m_extension; ++m) {
            const T* data = source(filter.m_start + m, filter.k_start + group * CHANNELS);
            if (!turned) {
                T* place =
                    reinterpret_cast<T*>(to) +
                    ((m / FRACTAL_ROWS * k_blocks + group) * FRACTAL_ROWS + m % FRACTAL_ROWS) * C0;
                if (data != nullptr)
                    std::memcpy(place, data, BLOCK_BYTES);
                else
                    std::fill(place, place + C0, padding);
                continue;
            }
            for (uint32_t i = 0; i < C0; ++i) {
                const uint32_t k = group * C0 + i;
                // L0A: fractals k by k, then m (the transpose's rows); L0B: m by m, then k.
                const uint32_t fractal = to_a ? k / FRACTAL_ROWS * m_blocks + m / C0
                                              : m / C0 * k_blocks + k / FRACTAL_ROWS;
                reinterpret_cast<T*>(
                    to)[(fractal * FRACTAL_ROWS + k % FRACTAL_ROWS) * C0 + m % C0] =
                    data != nullptr ? data[i] : padding;
            }
        }
}

}  // namespace
}  // namespace dav

using namespace dav;

#define DAV_IMG2COL_TO(name, memory, T)                                                           \
    void name(T* dst, T* src, uint16_t k_extension, uint16_t m_extension, uint16_t k_start,       \
              uint16_t m_start, uint8_t stride_w, uint8_t stride_h, uint8_t filter_w,             \
              uint8_t filter_h, uint8_t dilation_w, uint8_t dilation_h, bool wide_w, bool wide_h, \
              bool transpose, bool from_b, uint16_t channels) {                                   \
        image_to_column(#name, memory, dst, src,                                                  \
                        {k_extension, m_extension, k_start, m_start, stride_w, stride_h,          \
                         filter_w + (wide_w ? 256u : 0u), filter_h + (wide_h ? 256u : 0u),        \
                         dilation_w, dilation_h, channels, transpose},                            \
                        from_b, __builtin_return_address(0));                                     \
    }
#define DAV_IMG2COL(T)                                   \
    DAV_IMG2COL_TO(img2colv2_cbuf_to_ca, Memory::L0A, T) \
    DAV_IMG2COL_TO(img2colv2_cbuf_to_cb, Memory::L0B, T)
void img2colv2_cbuf_to_ca_s4(void* dst, void* src, uint16_t k_extension, uint16_t m_extension,
                             uint16_t k_start, uint16_t m_start, uint8_t stride_w, uint8_t stride_h,
                             uint8_t filter_w, uint8_t filter_h, uint8_t dilation_w,
                             uint8_t dilation_h, bool wide_w, bool wide_h, bool transpose,
                             bool from_b, uint16_t channels) {
    image_to_column<uint8_t, 2>("img2colv2_cbuf_to_ca_s4", Memory::L0A, static_cast<uint8_t*>(dst),
                                static_cast<uint8_t*>(src),
                                {k_extension, m_extension, k_start, m_start, stride_w, stride_h,
                                 filter_w + (wide_w ? 256u : 0u), filter_h + (wide_h ? 256u : 0u),
                                 dilation_w, dilation_h, channels, transpose},
                                from_b, __builtin_return_address(0));
}
DAV_IMG2COL(int8_t)
DAV_IMG2COL(uint8_t)
DAV_IMG2COL(half)
DAV_IMG2COL(bfloat16_t)
DAV_IMG2COL(float)
DAV_IMG2COL(int32_t)
DAV_IMG2COL(uint32_t)
