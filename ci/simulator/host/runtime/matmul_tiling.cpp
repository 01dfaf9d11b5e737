// A plain, valid cut of a matrix product: base blocks that fit L0, steps that fit L1.
#include "detail/matmul_tiling.h"

#include <algorithm>

namespace matmul_tiling {
namespace {
constexpr int32_t kFractal = 16;
constexpr int32_t kBaseMN = 128;
constexpr int32_t kBaseKBytes = 128;
constexpr int32_t kMaxSteps = 4;

int32_t up(int32_t value, int32_t to) { return (value + to - 1) / to * to; }

int32_t bytes_of(DataType type) {
  switch (type) {
    case DataType::DT_INT8:
    case DataType::DT_UINT8:
    case DataType::DT_BOOL:
    case DataType::DT_INT4: return 1;
    case DataType::DT_FLOAT16:
    case DataType::DT_BF16:
    case DataType::DT_BFLOAT16:
    case DataType::DT_INT16:
    case DataType::DT_UINT16: return 2;
    default: return 4;
  }
}
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

int64_t MatmulApiTilingBase::GetTiling(optiling::TCubeTiling& tiling) {
  const int32_t m = m_ > 0 ? m_ : org_m_;
  const int32_t n = n_ > 0 ? n_ : org_n_;
  const int32_t k = k_ > 0 ? k_ : org_ka_;
  if (m <= 0 || n <= 0 || k <= 0) {
    return -1;
  }
  split_cores();
  const int32_t single_m = single_m_ > 0 ? single_m_ : m;
  const int32_t single_n = single_n_ > 0 ? single_n_ : n;
  const int32_t single_k = single_k_ > 0 ? single_k_ : k;
  const int32_t in_bytes = std::max(bytes_of(a_.dataType), bytes_of(b_.dataType));
  base_m_ = fixed_base_m_ > 0 ? fixed_base_m_ : std::min(kBaseMN, up(single_m, kFractal));
  base_n_ = fixed_base_n_ > 0 ? fixed_base_n_ : std::min(kBaseMN, up(single_n, kFractal));
  base_k_ = fixed_base_k_ > 0 ? fixed_base_k_
                              : std::min(kBaseKBytes / in_bytes, up(single_k, 32 / in_bytes));
  const auto fits = [](int64_t bytes, uint64_t room) {
    return room == 0 || static_cast<uint64_t>(bytes) <= room;
  };
  if (!fits(int64_t{base_m_} * base_k_ * in_bytes, buffers_.l0ASize) ||
      !fits(int64_t{base_n_} * base_k_ * in_bytes, buffers_.l0BSize) ||
      !fits(int64_t{base_m_} * base_n_ * 4, buffers_.l0CSize)) {
    return -1;
  }
  const int32_t k_blocks = (single_k + base_k_ - 1) / base_k_;
  int32_t steps = std::min(kMaxSteps, k_blocks);
  const int64_t block_bytes = int64_t{base_m_ + base_n_} * base_k_ * in_bytes;
  while (steps > 1 && !fits(2 * steps * block_bytes, buffers_.l1Size)) {
    --steps;
  }
  const int32_t depth = steps * (fits(2 * steps * block_bytes, buffers_.l1Size) ? 2 : 1);
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
  tiling.set_depthA1(depth);
  tiling.set_depthB1(depth);
  tiling.set_stepM(1);
  tiling.set_stepN(1);
  tiling.set_stepKa(steps);
  tiling.set_stepKb(steps);
  tiling.set_isBias(bias_ ? 1 : 0);
  tiling.set_iterateOrder(traverse_ == MatrixTraverse::FIRSTN ? 1 : 0);
  tiling.set_shareL1Size(static_cast<int32_t>(depth * block_bytes));
  tiling.set_shareL0CSize(base_m_ * base_n_ * 4);
  tiling.set_batchM(1);
  tiling.set_batchN(1);
  tiling.set_singleBatchM(1);
  tiling.set_singleBatchN(1);
  tiling.set_depthAL1CacheUB(0);
  tiling.set_depthBL1CacheUB(0);
  tiling.set_dbL0A(2);
  tiling.set_dbL0B(2);
  tiling.set_dbL0C(1);
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

// The grid of cores whose largest share of the output is smallest; ties go to the squarer one.
void MultiCoreMatmulTiling::split_cores() {
  const int32_t m = m_ > 0 ? m_ : org_m_;
  const int32_t n = n_ > 0 ? n_ : org_n_;
  if (single_m_ <= 0 || single_n_ <= 0) {
    int64_t best = INT64_MAX;
    for (int32_t rows = 1; rows <= cores_; ++rows) {
      const int32_t columns = cores_ / rows;
      const int32_t share_m = up((m + rows - 1) / rows, kFractal);
      const int32_t share_n = up((n + columns - 1) / columns, kFractal);
      const int64_t cost = int64_t{share_m} * share_n * 1024 + share_m + share_n;
      if (cost < best) {
        best = cost;
        single_m_ = std::min(share_m, m);
        single_n_ = std::min(share_n, n);
      }
    }
  }
  used_cores_ = std::min(
      ((m + single_m_ - 1) / single_m_) * ((n + single_n_ - 1) / single_n_), cores_);
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
