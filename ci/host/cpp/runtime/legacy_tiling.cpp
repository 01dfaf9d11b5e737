// Functions that hosts of operator repositories declare and the toolkit's closed library of earlier
// tilings brings (libophost_comm_legacy). What stores tilings stores none here; what computes one
// is not here, and says so: a host that has a way of its own then takes it.
#include <cstdint>
#include <memory>
#include <string>

#include "detail/context.h"
#include "detail/log.h"

namespace tuningtiling {
class TuningTilingDef;
}

namespace optiling {
struct BatchmatmulCompileParas;
struct BatchmatmulRunParas;
class CacheTilingData;
struct QuantBatchMatmulRunParas;
enum class QbmmType : uint32_t;
struct WeightQuantBatchMatmulCacheTilingParas;
struct WeightQuantBatchMatmulCacheTilingData;
struct Conv3dBackpropV2TBETilingData;
enum OpTypeV2 : size_t;

namespace {
bool absent(const char* name) {
    ascendopt_log(DLOG_WARN, "%s is in a closed library of the toolkit, which is not here", name);
    return false;
}
}  // namespace

// Nothing is looked up in a cache that these would make ready.
bool TilingPrepareForOpCache(gert::TilingContext*) { return true; }
bool TilingPrepareForOpCache(gert::TilingParseContext*) { return true; }

bool GenTiling(const std::string&, const BatchmatmulCompileParas&, BatchmatmulRunParas&,
               CacheTilingData&, gert::TilingContext*) {
    return absent("GenTiling");
}
bool CheckSupportConditionQbmm(QbmmType, QuantBatchMatmulRunParas&, uint64_t, bool) {
    return absent("CheckSupportConditionQbmm");
}
bool GenWqbmmTiling(const std::string&, const WeightQuantBatchMatmulCacheTilingParas&,
                    WeightQuantBatchMatmulCacheTilingData&) {
    return absent("GenWqbmmTiling");
}
bool GetTbeTiling(gert::TilingContext*, Conv3dBackpropV2TBETilingData&, const OpTypeV2) {
    return absent("GetTbeTiling");
}
}  // namespace optiling

namespace RuntimeKb {
constexpr uint32_t kNoSuchKey = 1;

uint32_t QueryBank(const void*, size_t, const std::string&, const std::string&, uint32_t,
                   std::shared_ptr<tuningtiling::TuningTilingDef>&) {
    return kNoSuchKey;
}
}  // namespace RuntimeKb
