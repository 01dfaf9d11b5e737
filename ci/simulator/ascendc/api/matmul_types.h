// Types of the Matmul API: operands, configurations.
#pragma once

#include "../kernel_tiling/kernel_tiling.h"
#include "cube.h"

enum class CubeFormat {
    ND = 0,
    NZ,
    ZN,
    ZZ,
    NN,
    ND_ALIGN,
    SCALAR,
    VECTOR,
    COLUMN_MAJOR,
};
enum class LayoutMode { NONE = 0, BSNGD, SBNGD, BNGS1S2, NORMAL };
enum class BatchMode {
    NONE = 0,
    BATCH_LESS_THAN_L1,
    BATCH_LARGE_THAN_L1,
    SINGLE_LARGE_THAN_L1,
};
enum BatchOutMode { SINGLE_BATCH = 0, MULTI_BATCH, DYNAMIC };
enum class IterateOrder { ORDER_M = 0, ORDER_N, UNDEF };
enum class ScheduleType { INNER_PRODUCT = 0, OUTER_PRODUCT, N_BUFFER_33 };
enum IterateMode : uint8_t {
    ITERATE_MODE_NORMAL = 0b00000001,
    ITERATE_MODE_ALL = 0b00000010,
    ITERATE_MODE_BATCH = 0b00000100,
    ITERATE_MODE_N_BATCH = 0b00001000,
    ITERATE_MODE_DEFAULT = 0b11111111,
};

// Which template of the library a kernel asks for, and its switches; the machine's block takes from
// it whether copies into L1 bring several base blocks, and a fixed tiling. Kernels fill it in by
// position: the order of the fields is the library's.
struct MatmulConfig {
    bool doNorm = false;
    bool doBasicBlock = false;
    bool doMultiDataLoad = false;
    uint32_t basicM = 0;
    uint32_t basicN = 0;
    uint32_t basicK = 0;
    bool intrinsicsCheck = false;
    bool isNBatch = false;
    bool enVecND2NZ = false;
    bool doSpecialBasicBlock = false;
    uint32_t doMTE2Preload = 0;
    uint32_t singleCoreM = 0;
    uint32_t singleCoreN = 0;
    uint32_t singleCoreK = 0;
    uint32_t stepM = 0;
    uint32_t stepN = 0;
    uint32_t baseMN = 0;
    uint32_t singleCoreMN = 0;
    bool enUnitFlag = true;
    bool isPerTensor = false;
    bool hasAntiQuantOffset = false;
    bool doIBShareNorm = false;
    bool doSpecialMDL = false;
    bool enableInit = true;
    BatchMode batchMode = BatchMode::NONE;
    bool enableEnd = true;
    bool enableGetTensorC = true;
    bool enableSetOrgShape = true;
    bool enableSetBias = true;
    bool enableSetTail = true;
    bool enableQuantVector = true;
    bool enableSetDefineData = true;
    uint8_t iterateMode = ITERATE_MODE_DEFAULT;
    bool enableReuse = true;
    bool enableUBReuse = true;
    bool enableL1CacheUB = false;
    bool intraBlockPartSum = false;
    IterateOrder iterateOrder = IterateOrder::UNDEF;
    ScheduleType scheduleType = ScheduleType::INNER_PRODUCT;
    bool enableDoubleCache = false;
    bool isBiasBatch = true;
    bool enableStaticPadZeros = false;
    bool isPartialOutput = false;
    bool enableMixDualMaster = false;
    bool isA2B2Shared = false;
    bool isEnableChannelSplit = false;
    bool enableKdimReorderLoad = false;
    bool isCO1Shared = false;
    uint32_t sharedCO1BufferSize = 64 * 1024;  // bytes
    BatchOutMode bmmOutMode = BatchOutMode::SINGLE_BATCH;
};

namespace AscendC {

enum class MatmulConfigMode { CONFIG_NORM = 0, CONFIG_MDL, CONFIG_SPECIALMDL, CONFIG_IBSHARE };

struct MatmulShapeParams {
    uint32_t singleCoreM = 0;
    uint32_t singleCoreN = 0;
    uint32_t singleCoreK = 0;
    uint32_t basicM = 0;
    uint32_t basicN = 0;
    uint32_t basicK = 0;
};
struct MatmulQuantParams {
    bool isPerTensor = false;
    bool hasAntiQuantOffset = false;
};
struct MatmulBatchParams {
    bool isNBatch = false;
    BatchMode batchMode = BatchMode::NONE;
    bool isBiasBatch = true;
    BatchOutMode bmmOutMode = BatchOutMode::SINGLE_BATCH;
};
struct MatmulFuncParams {
    bool intrinsicsLimit = false;
    bool enVecND2NZ = false;
    bool enableDoubleCache = false;
    bool enableL1CacheUB = false;
    uint32_t doMTE2Preload = 0;
    IterateOrder iterateOrder = IterateOrder::UNDEF;
    ScheduleType scheduleType = ScheduleType::INNER_PRODUCT;
    bool enableReuse = true;
    bool enableUBReuse = true;
};

__aicore__ constexpr MatmulConfig GetNormalConfig(
    const bool intrinsicsLimit = false, const bool batchLoop = false, const bool isVecND2NZ = false,
    const BatchMode bmmMode = BatchMode::BATCH_LESS_THAN_L1, const bool isMsgReuse = true,
    const IterateOrder iterateOrder = IterateOrder::UNDEF,
    const ScheduleType scheduleType = ScheduleType::INNER_PRODUCT, const bool enUnitFlag = true,
    const bool enableMixDualMaster = false,
    const BatchOutMode bmmOutMode = BatchOutMode::SINGLE_BATCH) {
    MatmulConfig config;
    config.doNorm = true;
    config.intrinsicsCheck = intrinsicsLimit;
    config.isNBatch = batchLoop;
    config.enVecND2NZ = isVecND2NZ;
    config.batchMode = bmmMode;
    config.enableReuse = isMsgReuse;
    config.iterateOrder = iterateOrder;
    config.scheduleType = scheduleType;
    config.enUnitFlag = enUnitFlag;
    config.enableMixDualMaster = enableMixDualMaster;
    config.bmmOutMode = bmmOutMode;
    return config;
}
__aicore__ constexpr MatmulConfig GetMDLConfig(
    const bool intrinsicsLimit = false, const bool batchLoop = false,
    const uint32_t doMTE2Preload = 0, const bool isVecND2NZ = false, bool isPerTensor = false,
    bool hasAntiQuantOffset = false, const bool enUnitFlag = false, const bool isMsgReuse = true,
    const bool enableUBReuse = true, const bool enableL1CacheUB = false,
    const bool enableMixDualMaster = false, const bool enableKdimReorderLoad = false) {
    MatmulConfig config;
    config.doMultiDataLoad = true;
    config.intrinsicsCheck = intrinsicsLimit;
    config.isNBatch = batchLoop;
    config.doMTE2Preload = doMTE2Preload;
    config.enVecND2NZ = isVecND2NZ;
    config.isPerTensor = isPerTensor;
    config.hasAntiQuantOffset = hasAntiQuantOffset;
    config.enUnitFlag = enUnitFlag;
    config.enableReuse = isMsgReuse;
    config.enableUBReuse = enableUBReuse;
    config.enableL1CacheUB = enableL1CacheUB;
    config.enableMixDualMaster = enableMixDualMaster;
    config.enableKdimReorderLoad = enableKdimReorderLoad;
    return config;
}
__aicore__ constexpr MatmulConfig GetSpecialMDLConfig(const bool intrinsicsLimit = false,
                                                      const bool batchLoop = false,
                                                      const uint32_t doMTE2Preload = 0,
                                                      const bool isVecND2NZ = false,
                                                      bool isPerTensor = false,
                                                      bool hasAntiQuantOffset = false) {
    MatmulConfig config = GetMDLConfig(intrinsicsLimit, batchLoop, doMTE2Preload, isVecND2NZ,
                                       isPerTensor, hasAntiQuantOffset);
    config.doSpecialMDL = true;
    return config;
}
__aicore__ constexpr MatmulConfig GetBasicConfig(
    const uint32_t basicM, const uint32_t basicN, const uint32_t basicK,
    const bool intrinsicsLimit = false, const bool batchLoop = false,
    const BatchMode bmmMode = BatchMode::BATCH_LESS_THAN_L1) {
    MatmulConfig config;
    config.doBasicBlock = true;
    config.basicM = basicM;
    config.basicN = basicN;
    config.basicK = basicK;
    config.intrinsicsCheck = intrinsicsLimit;
    config.isNBatch = batchLoop;
    config.batchMode = bmmMode;
    return config;
}
__aicore__ constexpr MatmulConfig GetSpecialBasicConfig(
    const uint32_t basicM, const uint32_t basicN, const uint32_t basicK, const uint32_t singleCoreM,
    const uint32_t singleCoreN, const uint32_t singleCoreK, const uint32_t stepM,
    const uint32_t stepN, const bool intrinsicsLimit = false, const bool batchLoop = false,
    const BatchMode bmmMode = BatchMode::BATCH_LESS_THAN_L1) {
    MatmulConfig config =
        GetBasicConfig(basicM, basicN, basicK, intrinsicsLimit, batchLoop, bmmMode);
    config.doSpecialBasicBlock = true;
    config.singleCoreM = singleCoreM;
    config.singleCoreN = singleCoreN;
    config.singleCoreK = singleCoreK;
    config.stepM = stepM;
    config.stepN = stepN;
    return config;
}
__aicore__ constexpr MatmulConfig GetIBShareNormConfig(const bool intrinsicsLimit = false,
                                                       const bool batchLoop = false,
                                                       const bool isVecND2NZ = false) {
    return GetNormalConfig(intrinsicsLimit, batchLoop, isVecND2NZ);
}

__aicore__ constexpr void adopt(MatmulConfig& config, const MatmulShapeParams& p) {
    config.singleCoreM = p.singleCoreM;
    config.singleCoreN = p.singleCoreN;
    config.singleCoreK = p.singleCoreK;
    config.basicM = p.basicM;
    config.basicN = p.basicN;
    config.basicK = p.basicK;
}
__aicore__ constexpr void adopt(MatmulConfig& config, const MatmulQuantParams& p) {
    config.isPerTensor = p.isPerTensor;
    config.hasAntiQuantOffset = p.hasAntiQuantOffset;
}
__aicore__ constexpr void adopt(MatmulConfig& config, const MatmulBatchParams& p) {
    config.isNBatch = p.isNBatch;
    config.batchMode = p.batchMode;
    config.isBiasBatch = p.isBiasBatch;
    config.bmmOutMode = p.bmmOutMode;
}
__aicore__ constexpr void adopt(MatmulConfig& config, const MatmulFuncParams& p) {
    config.intrinsicsCheck = p.intrinsicsLimit;
    config.enVecND2NZ = p.enVecND2NZ;
    config.enableDoubleCache = p.enableDoubleCache;
    config.enableL1CacheUB = p.enableL1CacheUB;
    config.doMTE2Preload = p.doMTE2Preload;
    config.iterateOrder = p.iterateOrder;
    config.scheduleType = p.scheduleType;
    config.enableReuse = p.enableReuse;
    config.enableUBReuse = p.enableUBReuse;
}
template <MatmulConfigMode mode, typename... Params>
__aicore__ constexpr MatmulConfig GetMMConfig(const Params&... params) {
    MatmulConfig config = mode == MatmulConfigMode::CONFIG_MDL          ? GetMDLConfig()
                          : mode == MatmulConfigMode::CONFIG_SPECIALMDL ? GetSpecialMDLConfig()
                                                                        : GetNormalConfig();
    (adopt(config, params), ...);
    return config;
}

constexpr MatmulConfig CFG_NORM = GetNormalConfig();
constexpr MatmulConfig CFG_MDL = GetMDLConfig();
constexpr MatmulConfig CFG_IBSHARE_NORM = GetIBShareNormConfig();

template <TPosition POSITION, CubeFormat FORMAT, typename TYPE, bool ISTRANS = false,
          LayoutMode LAYOUT = LayoutMode::NONE, bool IBSHARE = false>
struct MatmulType {
    static constexpr TPosition pos = POSITION;
    static constexpr CubeFormat format = FORMAT;
    using T = TYPE;
    static constexpr bool isTrans = ISTRANS;
    static constexpr LayoutMode layout = LAYOUT;
    static constexpr bool ibShare = IBSHARE;
};

// A tiling known at compile time; what is -1 comes from the host's.
#define ASC_UNFIXED(name) int32_t name = -1;
struct MatmulApiStaticTiling {
    ASC_CUBE_TILING(ASC_UNFIXED)
    MatmulConfig cfg;
};
#undef ASC_UNFIXED

// Base blocks as the configuration names them, and the steps that L1 has room for.
template <class A, class B, class C, class BIAS = C>
__aicore__ constexpr MatmulApiStaticTiling GetMatmulApiTiling(const MatmulConfig& config,
                                                              int32_t l1Size = TOTAL_L1_SIZE) {
    MatmulApiStaticTiling tiling;
    tiling.cfg = config;
    const int32_t element = sizeof(typename A::T);
    if (config.basicM == 0) return tiling;
    tiling.baseM = int32_t(config.basicM);
    tiling.baseN = int32_t(config.basicN);
    tiling.baseK = int32_t(config.basicK);
    if (config.singleCoreM != 0) {
        tiling.singleCoreM = int32_t(config.singleCoreM);
        tiling.singleCoreN = int32_t(config.singleCoreN);
        tiling.singleCoreK = int32_t(config.singleCoreK);
    }
    const int32_t block = (tiling.baseM + tiling.baseN) * tiling.baseK * element;
    int32_t steps = 1;
    while (steps < 8 && 2 * (steps + 1) * block <= l1Size - 8 * 1024) ++steps;
    tiling.stepM = tiling.stepN = 1;
    tiling.stepKa = tiling.stepKb = steps;
    tiling.depthA1 = tiling.depthB1 = 2 * steps;
    tiling.dbL0A = tiling.dbL0B = 2;
    tiling.dbL0C = 1;
    tiling.iterateOrder = 0;
    return tiling;
}

// How the machine's block calls an element type.
template <typename T> __aicore__ constexpr DavElement element_of() {
    if constexpr (IsSameType<T, half>::value) return DavElement::HALF;
    if constexpr (IsSameType<T, bfloat16_t>::value) return DavElement::BFLOAT16;
    if constexpr (IsSameType<T, float>::value) return DavElement::FLOAT;
    if constexpr (IsSameType<T, int32_t>::value) return DavElement::INT32;
    if constexpr (IsSameType<T, uint8_t>::value) return DavElement::UINT8;
    if constexpr (IsSameType<T, int4b_t>::value) return DavElement::INT4;
    return DavElement::INT8;
}

__aicore__ constexpr MatmulConfig ToMatmulConfig(const MatmulConfig& config) { return config; }
__aicore__ constexpr MatmulConfig ToMatmulConfig(const MatmulApiStaticTiling& tiling) {
    return tiling.cfg;
}

}  // namespace AscendC

// The library has these outside its namespace too.
using AscendC::CFG_IBSHARE_NORM;
using AscendC::CFG_MDL;
using AscendC::CFG_NORM;
using AscendC::GetBasicConfig;
using AscendC::GetIBShareNormConfig;
using AscendC::GetMDLConfig;
using AscendC::GetMMConfig;
using AscendC::GetNormalConfig;
using AscendC::GetSpecialBasicConfig;
using AscendC::GetSpecialMDLConfig;
using AscendC::MatmulApiStaticTiling;
using AscendC::MatmulBatchParams;
using AscendC::MatmulConfigMode;
using AscendC::MatmulFuncParams;
using AscendC::MatmulQuantParams;
using AscendC::MatmulShapeParams;
using AscendC::ToMatmulConfig;
