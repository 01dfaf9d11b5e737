// Cuts a matrix product over cores, into base blocks that fit L0 and steps that fit L1. Of the base
// blocks that fit, the one with the least work and traffic is taken.
#include "detail/matmul_tiling.h"

#include <algorithm>
#include <cstdint>
#include <numeric>

#include "runtime/runtime.h"

namespace matmul_tiling {
namespace {
constexpr int32_t kFractal = 16;
constexpr int32_t kMaxBaseMN = 256;
constexpr int32_t kMaxBaseKBytes = 512;  // rows of L1 tiles need not be longer at a time
constexpr int32_t kRowBytes = 128;       // base blocks of A and B are at least so deep
constexpr int32_t kMaxSteps = 8;
constexpr int64_t kTableBytes = 8 * 1024;  // of L1, for bias and quantisation parameters
constexpr double kMultiplies = 4096;       // of half a cycle
constexpr double kLoadBytes = 88;          // into L1 a cycle
constexpr double kBlockCycles = 400;       // what a block of C costs beside

int32_t up(int32_t value, int32_t to) { return (value + to - 1) / to * to; }

int32_t bits_of(DataType type) {
    switch (type) {
        case DataType::DT_INT4: return 4;
        case DataType::DT_INT8:
        case DataType::DT_UINT8:
        case DataType::DT_BOOL: return 8;
        case DataType::DT_FLOAT16:
        case DataType::DT_BF16:
        case DataType::DT_BFLOAT16:
        case DataType::DT_INT16:
        case DataType::DT_UINT16: return 16;
        default: return 32;
    }
}

int64_t bytes_of(DataType type, int64_t elements) { return elements * bits_of(type) / 8; }
}  // namespace

MatmulApiTilingBase::MatmulApiTilingBase()
    : MatmulApiTilingBase(*platform_ascendc::PlatformAscendCManager::GetInstance()) {}

MatmulApiTilingBase::MatmulApiTilingBase(const platform_ascendc::PlatformAscendC& platform) {
    using platform_ascendc::CoreMemType;
    buffers_.socVersion = platform.GetSocVersion();
    platform.GetCoreMemSize(CoreMemType::L1, buffers_.l1Size);
    platform.GetCoreMemSize(CoreMemType::L0_A, buffers_.l0ASize);
    platform.GetCoreMemSize(CoreMemType::L0_B, buffers_.l0BSize);
    platform.GetCoreMemSize(CoreMemType::L0_C, buffers_.l0CSize);
    platform.GetCoreMemSize(CoreMemType::UB, buffers_.ubSize);
}

MatmulApiTilingBase::MatmulApiTilingBase(const PlatformInfo& platform) : buffers_(platform) {}

int32_t MatmulApiTilingBase::SetAType(TPosition pos, CubeFormat type, DataType data, bool trans) {
    a_ = {pos, type, data, trans};
    return 0;
}
int32_t MatmulApiTilingBase::SetBType(TPosition pos, CubeFormat type, DataType data, bool trans) {
    b_ = {pos, type, data, trans};
    return 0;
}
int32_t MatmulApiTilingBase::SetCType(TPosition pos, CubeFormat type, DataType data) {
    c_ = {pos, type, data, false};
    return 0;
}
int32_t MatmulApiTilingBase::SetBiasType(TPosition pos, CubeFormat type, DataType data) {
    bias_type_ = {pos, type, data, false};
    return 0;
}
int32_t MatmulApiTilingBase::SetShape(int32_t m, int32_t n, int32_t k) {
    m_ = m;
    n_ = n;
    k_ = k;
    return 0;
}
int32_t MatmulApiTilingBase::SetOrgShape(int32_t m, int32_t n, int32_t ka, int32_t kb) {
    org_m_ = m;
    org_n_ = n;
    org_ka_ = ka;
    org_kb_ = kb;
    return 0;
}
int32_t MatmulApiTilingBase::SetBias(bool enable) {
    bias_ = enable;
    return 0;
}
int32_t MatmulApiTilingBase::SetFixSplit(int32_t m, int32_t n, int32_t k) {
    fixed_base_m_ = m;
    fixed_base_n_ = n;
    fixed_base_k_ = k;
    return 0;
}
int32_t MatmulApiTilingBase::SetBufferSpace(int32_t l1, int32_t l0c, int32_t ub, int32_t) {
    buffers_.l1Size = l1 > 0 ? static_cast<uint64_t>(l1) : buffers_.l1Size;
    buffers_.l0CSize = l0c > 0 ? static_cast<uint64_t>(l0c) : buffers_.l0CSize;
    buffers_.ubSize = ub > 0 ? static_cast<uint64_t>(ub) : buffers_.ubSize;
    return 0;
}
int32_t MatmulApiTilingBase::SetTraverse(MatrixTraverse order) {
    traverse_ = order;
    return 0;
}

int32_t MatmulApiTilingBase::SetSplitRange(int32_t max_m, int32_t max_n, int32_t max_k, int32_t,
                                           int32_t, int32_t) {
    max_base_m_ = max_m;
    max_base_n_ = max_n;
    max_base_k_ = max_k;
    return 0;
}
int32_t MatmulApiTilingBase::SetDoubleBuffer(bool a, bool b, bool c, bool, bool, bool) {
    parts_a_ = a ? 2 : 1;
    parts_b_ = b ? 2 : 1;
    parts_c_ = c ? 2 : 1;
    return 0;
}

// Tries all base blocks of whole fractals for a product of m, n, k on one core.
bool MatmulApiTilingBase::choose_base(int32_t m, int32_t n, int32_t k) {
    const int32_t bits = std::max(bits_of(a_.dataType), bits_of(b_.dataType));
    const int32_t c0 = std::max(256 / bits, kFractal);
    const auto room = [](uint64_t size, const char* fact) {
        return int64_t(size > 0 ? size : host::current_platform().number(fact, 0));
    };
    const int64_t l0_a = room(buffers_.l0ASize, "memory.l0a") / parts_a_;
    const int64_t l0_b = room(buffers_.l0BSize, "memory.l0b") / parts_b_;
    const int64_t l0_c = room(buffers_.l0CSize, "memory.l0c") / parts_c_;
    const int64_t ub = c_.pos == TPosition::GM ? 0 : room(buffers_.ubSize, "memory.ub");
    const auto most = [](int32_t size, int32_t bound) {
        const int32_t limit = bound > 0 ? std::min(bound, kMaxBaseMN) : kMaxBaseMN;
        return std::min(up(size, kFractal), limit / kFractal * kFractal);
    };
    // Turned operands of 8 bits come in squares of 32, those of 4 bits in squares of 64.
    const int32_t step = bits <= 8 ? 256 / bits : kFractal;
    const int32_t first_m = fixed_base_m_ > 0 ? fixed_base_m_ : std::min(step, up(m, kFractal));
    const int32_t last_m = fixed_base_m_ > 0 ? fixed_base_m_ : most(m, max_base_m_);
    const int32_t first_n = fixed_base_n_ > 0 ? fixed_base_n_ : std::min(step, up(n, kFractal));
    const int32_t last_n = fixed_base_n_ > 0 ? fixed_base_n_ : most(n, max_base_n_);
    double best = 0;
    bool found = false;
    for (int32_t bm = first_m; bm <= std::max(first_m, last_m); bm += step) {
        for (int32_t bn = first_n; bn <= std::max(first_n, last_n); bn += step) {
            if (int64_t{up(bm, kFractal)} * up(bn, kFractal) * 4 > l0_c) continue;
            if (ub > 0 && bytes_of(c_.dataType, int64_t{bm} * bn) > ub) continue;
            const int64_t deepest =
                std::min(l0_a / up(bm, kFractal), l0_b / up(bn, kFractal)) * 8 / bits;
            int32_t bk = static_cast<int32_t>(
                std::min<int64_t>({deepest / c0 * c0, up(k, c0), kMaxBaseKBytes * 8 / bits}));
            if (max_base_k_ > 0) bk = std::min(bk, std::max(max_base_k_ / c0 * c0, c0));
            if (fixed_base_k_ > 0) bk = up(fixed_base_k_, c0) <= deepest ? fixed_base_k_ : 0;
            if (bk <= 0) continue;
            const double blocks = double((m + bm - 1) / bm) * ((n + bn - 1) / bn);
            const double depth = up(k, c0);
            const double work =
                blocks * up(bm, kFractal) * up(bn, kFractal) * depth / kMultiplies * (bits / 16.0);
            const double traffic = blocks * (bm + bn) * depth * bits / 8 / kLoadBytes;
            // Shallow blocks load rows that are shorter than the memory likes.
            const double shallow = bk * bits < kRowBytes * 8 && bk < up(k, c0) ? 1.5 : 1.0;
            const double cost = std::max(work, traffic * shallow) + 0.1 * std::min(work, traffic) +
                                blocks * kBlockCycles;
            if (found && cost >= best) continue;
            found = true;
            best = cost;
            base_m_ = bm;
            base_n_ = bn;
            base_k_ = bk;
        }
    }
    return found;
}

// How many base blocks a copy brings into L1: as many as fit twice, or all of k once.
void MatmulApiTilingBase::choose_steps(int32_t k, optiling::TCubeTiling& tiling) const {
    const int64_t room =
        int64_t(buffers_.l1Size > 0 ? buffers_.l1Size : 512 * 1024) - (bias_ ? kTableBytes : 0);
    const int32_t k_blocks = (k + base_k_ - 1) / base_k_;
    const int64_t bytes_a = bytes_of(a_.dataType, int64_t{up(base_m_, kFractal)} * base_k_);
    const int64_t bytes_b = bytes_of(b_.dataType, int64_t{up(base_n_, kFractal)} * base_k_);
    int32_t steps_a = std::min(kMaxSteps, k_blocks);
    int32_t steps_b = std::min(kMaxSteps, k_blocks);
    const auto taken = [&] { return 2 * (steps_a * bytes_a + steps_b * bytes_b); };
    while (taken() > room && steps_a + steps_b > 2) {
        // The larger side gives way; steps divide each other so that their ends meet.
        int32_t& larger = steps_b > 1 && steps_b * bytes_b >= steps_a * bytes_a ? steps_b : steps_a;
        if (larger == 1) break;
        larger = (larger + 1) / 2;
    }
    const int32_t parts = taken() <= room ? 2 : 1;
    tiling.set_depthA1(steps_a * parts);
    tiling.set_depthB1(steps_b * parts);
    tiling.set_stepKa(steps_a);
    tiling.set_stepKb(steps_b);
    tiling.set_shareL1Size(static_cast<int32_t>(parts * (steps_a * bytes_a + steps_b * bytes_b)));
}

int64_t MatmulApiTilingBase::GetTiling(optiling::TCubeTiling& tiling) {
    const int32_t m = m_ > 0 ? m_ : org_m_;
    const int32_t n = n_ > 0 ? n_ : org_n_;
    const int32_t k = k_ > 0 ? k_ : org_ka_;
    if (m <= 0 || n <= 0 || k <= 0) return -1;
    split_cores();
    const int32_t single_m = single_m_ > 0 ? single_m_ : m;
    const int32_t single_n = single_n_ > 0 ? single_n_ : n;
    const int32_t single_k = single_k_ > 0 ? single_k_ : k;
    if (!choose_base(single_m, single_n, single_k)) return -1;
    tiling.set_usedCoreNum(used_cores_);
    tiling.set_M(org_m_ > 0 ? org_m_ : m);
    tiling.set_N(org_n_ > 0 ? org_n_ : n);
    tiling.set_Ka(org_ka_ > 0 ? org_ka_ : k);
    tiling.set_Kb(org_kb_ > 0 ? org_kb_ : k);
    tiling.set_singleCoreM(single_m);
    tiling.set_singleCoreN(single_n);
    tiling.set_singleCoreK(single_k);
    tiling.set_baseM(base_m_);
    tiling.set_baseN(base_n_);
    tiling.set_baseK(base_k_);
    tiling.set_stepM(1);
    tiling.set_stepN(1);
    choose_steps(single_k, tiling);
    tiling.set_isBias(bias_ ? 1 : 0);
    tiling.set_iterateOrder(traverse_ == MatrixTraverse::FIRSTN ? 1 : 0);
    const int64_t block_c = int64_t{up(base_m_, kFractal)} * up(base_n_, kFractal) * 4;
    const int64_t l0_c = buffers_.l0CSize > 0 ? int64_t(buffers_.l0CSize) : 128 * 1024;
    const int32_t parts_c = 2 * block_c <= l0_c ? 2 : 1;
    tiling.set_shareL0CSize(static_cast<int32_t>(block_c * parts_c));
    tiling.set_shareUbSize(0);
    tiling.set_batchM(1);
    tiling.set_batchN(1);
    tiling.set_singleBatchM(1);
    tiling.set_singleBatchN(1);
    tiling.set_depthAL1CacheUB(0);
    tiling.set_depthBL1CacheUB(0);
    tiling.set_dbL0A(parts_a_);
    tiling.set_dbL0B(parts_b_);
    tiling.set_dbL0C(parts_c);
    return 0;
}

int32_t MultiCoreMatmulTiling::SetAlignSplit(int32_t m, int32_t n, int32_t) {
    align_m_ = std::max(m, 1);
    align_n_ = std::max(n, 1);
    return 0;
}
int32_t MultiCoreMatmulTiling::SetDim(int32_t cores) {
    cores_ = std::max(cores, 1);
    return 0;
}
int32_t MultiCoreMatmulTiling::SetShape(int32_t m, int32_t n, int32_t k) {
    return MatmulApiTilingBase::SetShape(m, n, k);
}
int32_t MultiCoreMatmulTiling::SetSingleShape(int32_t m, int32_t n, int32_t k) {
    single_m_ = m;
    single_n_ = n;
    single_k_ = k;
    return 0;
}
int32_t MultiCoreMatmulTiling::GetSingleShape(int32_t& m, int32_t& n, int32_t& k) {
    m = single_m_;
    n = single_n_;
    k = single_k_;
    return 0;
}
int32_t MultiCoreMatmulTiling::GetCoreNum(int32_t& dim, int32_t& m_dim, int32_t& n_dim) {
    m_dim = single_m_ > 0 ? (m_ + single_m_ - 1) / single_m_ : 1;
    n_dim = single_n_ > 0 ? (n_ + single_n_ - 1) / single_n_ : 1;
    dim = used_cores_;
    return 0;
}

// The grid of cores whose largest share of the output is smallest; ties go to the squarer one,
// and then to the one with more rows. A share holds whole base blocks where their size is fixed,
// and equal shares are worth a quarter: kernels rely on all three, as the library of CANN chooses
// so (for the rows: examples/…/02_matrix/matmul_advanced_api of asc-devkit, which says it).
void MultiCoreMatmulTiling::split_cores() {
    const int32_t m = m_ > 0 ? m_ : org_m_;
    const int32_t n = n_ > 0 ? n_ : org_n_;
    const int32_t step_m = std::lcm(std::max(fixed_base_m_, 1), std::max(kFractal, align_m_));
    const int32_t step_n = std::lcm(std::max(fixed_base_n_, 1), std::max(kFractal, align_n_));
    if (single_m_ <= 0 || single_n_ <= 0) {
        int64_t best = INT64_MAX;
        for (int32_t rows = cores_; rows >= 1; --rows) {
            const int32_t columns = cores_ / rows;
            const int32_t share_m = up((m + rows - 1) / rows, step_m);
            const int32_t share_n = up((n + columns - 1) / columns, step_n);
            const int64_t area = int64_t{share_m} * share_n * 1024;
            const bool equal = m % share_m == 0 && n % share_n == 0;
            const int64_t cost = area + (equal ? 0 : area / 4) + share_m + share_n;
            if (cost < best) {
                best = cost;
                single_m_ = std::min(share_m, m);
                single_n_ = std::min(share_n, n);
            }
        }
    }
    used_cores_ =
        std::min(((m + single_m_ - 1) / single_m_) * ((n + single_n_ - 1) / single_n_), cores_);
}
}  // namespace matmul_tiling

int32_t MatmulGetTmpBufSize(optiling::TCubeTiling& tiling,
                            matmul_tiling::SysTilingTempBufSize& sizes) {
    sizes.l1Size = tiling.get_shareL1Size();
    sizes.l0cSize = tiling.get_shareL0CSize();
    sizes.ubSize = tiling.get_shareUbSize();
    return 0;
}
int32_t MultiCoreMatmulGetTmpBufSize(optiling::TCubeTiling& tiling,
                                     matmul_tiling::SysTilingTempBufSize& sizes) {
    return MatmulGetTmpBufSize(tiling, sizes);
}
