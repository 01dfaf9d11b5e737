// Tiling of the Matmul library: how the cube work is cut.
#pragma once

#include "detail/platform.h"
#include "detail/tiling_data.h"

#ifdef ASCENDOPT_ASC_TILING
#include "detail/asc_tiling.h"
#else

// clang-format off
#define ASCENDOPT_CUBE_TILING(x) \
    x(usedCoreNum) x(M) x(N) x(Ka) x(Kb) x(singleCoreM) x(singleCoreN) x(singleCoreK) \
    x(baseM) x(baseN) x(baseK) x(depthA1) x(depthB1) x(stepM) x(stepN) x(isBias) x(transLength) \
    x(iterateOrder) x(shareMode) x(shareL1Size) x(shareL0CSize) x(shareUbSize) \
    x(batchM) x(batchN) x(singleBatchM) x(singleBatchN) x(stepKa) x(stepKb) \
    x(depthAL1CacheUB) x(depthBL1CacheUB) x(dbL0A) x(dbL0B) x(dbL0C) \
    x(ALayoutInfoB) x(ALayoutInfoS) x(ALayoutInfoN) x(ALayoutInfoG) x(ALayoutInfoD) \
    x(BLayoutInfoB) x(BLayoutInfoS) x(BLayoutInfoN) x(BLayoutInfoG) x(BLayoutInfoD) \
    x(CLayoutInfoB) x(CLayoutInfoS1) x(CLayoutInfoN) x(CLayoutInfoG) x(CLayoutInfoS2) \
    x(BatchNum) x(mxTypePara)
// clang-format on
#define ASCENDOPT_INT_FIELD(name) TILING_DATA_FIELD_DEF(int32_t, name)
namespace optiling {
BEGIN_TILING_DATA_DEF(TCubeTiling)
ASCENDOPT_CUBE_TILING(ASCENDOPT_INT_FIELD)
END_TILING_DATA_DEF
}  // namespace optiling

namespace matmul_tiling {
enum class DataType : int32_t {
    DT_FLOAT = 0,
    DT_FLOAT16 = 1,
    DT_INT8 = 2,
    DT_INT32 = 3,
    DT_UINT8 = 4,
    DT_INT16 = 6,
    DT_UINT16 = 7,
    DT_UINT32 = 8,
    DT_INT64 = 9,
    DT_UINT64 = 10,
    DT_DOUBLE = 11,
    DT_BOOL = 12,
    DT_BF16 = 27,
    DT_UNDEFINED = 28,
    DT_INT4 = 29,
    DT_BFLOAT16 = 33,
    // Of later chips: hosts for several name them.
    DT_HIFLOAT8 = 34,
    DT_FLOAT8_E4M3FN = 35,
    DT_FLOAT8_E5M2 = 36,
    DT_FLOAT4_E2M1 = 37,
    DT_FLOAT8_E8M0 = 38,
    DT_FLOAT4_E1M2 = 39,
    DT_MAX = 40
};
enum class TPosition : int32_t {
    GM,
    A1,
    A2,
    B1,
    B2,
    C1,
    C2,
    CO1,
    CO2,
    VECIN,
    VECOUT,
    VECCALC,
    LCM = VECCALC,
    SPM,
    SHM = SPM,
    TSCM,
    MAX
};
enum class CubeFormat : int32_t {
    ND = 0,
    NZ,
    ZN,
    ZZ,
    NN,
    ND_ALIGN,
    SCALAR,
    VECTOR,
    ROW_MAJOR = ND,
    COLUMN_MAJOR = 8
};
enum class MatrixTraverse : int32_t { NOSET = 0, FIRSTM = 1, FIRSTN = 2 };
enum class MatrixMadType : int32_t { NORMAL = 0, HF32 = 1, MXMODE = 2 };
enum class DequantType : int32_t { SCALAR = 0, TENSOR = 1 };
enum class ScheduleType : int32_t { INNER_PRODUCT = 0, OUTER_PRODUCT = 1, N_BUFFER_33 = 2 };
enum class TilingPolicy : int32_t { FIXED_A_TSCM, FIXED_B_TSCM, FIXED_A_B_TSCM, NO_POLICY };

struct PlatformInfo {
    platform_ascendc::SocVersion socVersion = platform_ascendc::SocVersion::RESERVED_VERSION;
    uint64_t l1Size = 0;
    uint64_t l0CSize = 0;
    uint64_t ubSize = 0;
    uint64_t l0ASize = 0;
    uint64_t l0BSize = 0;
};
struct SysTilingTempBufSize {
    int32_t ubSize = 0;
    int32_t l1Size = 0;
    int32_t l0cSize = 0;
};
struct MatTilingType {
    TPosition pos = TPosition::GM;
    CubeFormat type = CubeFormat::ND;
    DataType dataType = DataType::DT_FLOAT;
    bool isTrans = false;
};
struct MatmulConfigParams {
    int32_t mmConfigType = 1;
    bool enableL1CacheUB = false;
    ScheduleType scheduleType = ScheduleType::INNER_PRODUCT;
    MatrixTraverse traverse = MatrixTraverse::NOSET;
    bool enVecND2NZ = false;
    MatmulConfigParams(int32_t type = 1, bool l1 = false,
                       ScheduleType schedule = ScheduleType::INNER_PRODUCT,
                       MatrixTraverse order = MatrixTraverse::NOSET, bool vector_nd2nz = false)
        : mmConfigType(type), enableL1CacheUB(l1), scheduleType(schedule), traverse(order),
          enVecND2NZ(vector_nd2nz) {}
};

class MatmulApiTilingBase {
public:
    MatmulApiTilingBase();
    explicit MatmulApiTilingBase(const platform_ascendc::PlatformAscendC& platform);
    explicit MatmulApiTilingBase(const PlatformInfo& platform);
    virtual ~MatmulApiTilingBase() = default;
    int32_t SetAType(TPosition pos, CubeFormat type, DataType data_type, bool trans = false);
    int32_t SetBType(TPosition pos, CubeFormat type, DataType data_type, bool trans = false);
    int32_t SetCType(TPosition pos, CubeFormat type, DataType data_type);
    int32_t SetBiasType(TPosition pos, CubeFormat type, DataType data_type);
    int32_t SetDequantType(DequantType) { return 0; }
    virtual int32_t SetShape(int32_t m, int32_t n, int32_t k);
    int32_t SetOrgShape(int32_t m, int32_t n, int32_t k) { return SetOrgShape(m, n, k, k); }
    int32_t SetOrgShape(int32_t m, int32_t n, int32_t ka, int32_t kb);
    int32_t SetALayout(int32_t, int32_t, int32_t, int32_t, int32_t) { return 0; }
    int32_t SetBLayout(int32_t, int32_t, int32_t, int32_t, int32_t) { return 0; }
    int32_t SetCLayout(int32_t, int32_t, int32_t, int32_t, int32_t) { return 0; }
    int32_t SetBatchNum(int32_t) { return 0; }
    int32_t SetBatchInfoForNormal(int32_t, int32_t, int32_t m, int32_t n, int32_t k) {
        return SetShape(m, n, k);
    }
    int32_t EnableBias(bool enable = true) { return SetBias(enable); }
    int32_t SetBias(bool enable = true);
    int32_t SetFixSplit(int32_t base_m = -1, int32_t base_n = -1, int32_t base_k = -1);
    int32_t SetBufferSpace(int32_t l1 = -1, int32_t l0c = -1, int32_t ub = -1, int32_t bt = -1);
    int32_t SetTraverse(MatrixTraverse order);
    int32_t SetMadType(MatrixMadType) { return 0; }
    // Bounds of the base blocks; -1: none.
    int32_t SetSplitRange(int32_t max_m = -1, int32_t max_n = -1, int32_t max_k = -1,
                          int32_t min_m = -1, int32_t min_n = -1, int32_t min_k = -1);
    int32_t SetDoubleBuffer(bool a, bool b, bool c, bool, bool = true, bool = true);
    void SetMatmulConfigParams(int32_t, bool = false, ScheduleType = ScheduleType::INNER_PRODUCT,
                               MatrixTraverse = MatrixTraverse::NOSET, bool = false) {}
    void SetMatmulConfigParams(const MatmulConfigParams&) {}
    int32_t SetSparse(bool) { return 0; }
    int32_t GetBaseM() const { return base_m_; }
    int32_t GetBaseN() const { return base_n_; }
    int32_t GetBaseK() const { return base_k_; }
    // 0, or -1 when no cut fits the buffers.
    virtual int64_t GetTiling(optiling::TCubeTiling& tiling);
    // The same into the plain structure that host and kernel share.
    template <typename Plain> int64_t GetTiling(Plain& tiling) {
        optiling::TCubeTiling found;
        const int64_t result = GetTiling(found);
        if (result != -1) found.SaveToBuffer(&tiling, sizeof(tiling));
        return result;
    }

protected:
    virtual void split_cores() {}
    bool choose_base(int32_t m, int32_t n, int32_t k);
    void choose_steps(int32_t k, optiling::TCubeTiling& tiling) const;
    int32_t fixed_base_m_ = -1, fixed_base_n_ = -1, fixed_base_k_ = -1;
    int32_t base_m_ = 0, base_n_ = 0, base_k_ = 0;
    int32_t m_ = 0, n_ = 0, k_ = 0;
    int32_t org_m_ = 0, org_n_ = 0, org_ka_ = 0, org_kb_ = 0;
    int32_t single_m_ = -1, single_n_ = -1, single_k_ = -1;
    int32_t cores_ = 1, used_cores_ = 1;
    int32_t max_base_m_ = -1, max_base_n_ = -1, max_base_k_ = -1;
    int32_t align_m_ = 1, align_n_ = 1;                // of a core's share
    int32_t parts_a_ = 2, parts_b_ = 2, parts_c_ = 1;  // buffers in L0A, L0B, L0C
    bool bias_ = false;
    MatrixTraverse traverse_ = MatrixTraverse::NOSET;
    MatTilingType a_, b_, c_, bias_type_;
    PlatformInfo buffers_;
};

class MatmulApiTiling : public MatmulApiTilingBase {
public:
    using MatmulApiTilingBase::MatmulApiTilingBase;
};

class MultiCoreMatmulTiling : public MatmulApiTilingBase {
public:
    using MatmulApiTilingBase::MatmulApiTilingBase;
    int32_t SetDim(int32_t cores);
    int32_t SetShape(int32_t m, int32_t n, int32_t k) override;
    virtual int32_t SetSingleShape(int32_t m = -1, int32_t n = -1, int32_t k = -1);
    virtual int32_t SetSingleRange(int32_t = -1, int32_t = -1, int32_t = -1, int32_t = -1,
                                   int32_t = -1, int32_t = -1) {
        return 0;
    }
    int32_t SetAlignSplit(int32_t m, int32_t n, int32_t);
    void EnableMultiCoreSplitK(bool) {}
    int32_t GetSingleShape(int32_t& m, int32_t& n, int32_t& k);
    int32_t GetCoreNum(int32_t& dim, int32_t& m_dim, int32_t& n_dim);

protected:
    void split_cores() override;
};
using BatchMatmulTiling = MultiCoreMatmulTiling;
}  // namespace matmul_tiling

int32_t MatmulGetTmpBufSize(optiling::TCubeTiling& tiling,
                            matmul_tiling::SysTilingTempBufSize& sizes);
int32_t MultiCoreMatmulGetTmpBufSize(optiling::TCubeTiling& tiling,
                                     matmul_tiling::SysTilingTempBufSize& sizes);
#endif  // ASCENDOPT_ASC_TILING
