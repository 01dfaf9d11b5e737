// The base library that repositories of the ops-math layout share: logging, checks, small numbers.
#pragma once

#include <cmath>
#include <limits>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "detail/context.h"
#include "detail/log.h"

// Some calls name the operator and say nothing.
inline void ascendopt_log(int) {}

#ifndef OP_LOGE
#define OP_LOGE(op, ...) ascendopt_log(DLOG_ERROR, ##__VA_ARGS__)
#define D_OP_LOGE(op, ...) OP_LOGE(op, ##__VA_ARGS__)
#endif
#ifndef OP_LOGW
#define OP_LOGW(op, ...) ascendopt_log(DLOG_WARN, ##__VA_ARGS__)
#define D_OP_LOGW(op, ...) OP_LOGW(op, ##__VA_ARGS__)
#endif
#ifndef OP_LOGI
#define OP_LOGI(op, ...) ascendopt_log(DLOG_INFO, ##__VA_ARGS__)
#define D_OP_LOGI(op, ...) OP_LOGI(op, ##__VA_ARGS__)
#endif
#ifndef OP_LOGD
#define OP_LOGD(op, ...) ascendopt_log(DLOG_DEBUG, ##__VA_ARGS__)
#define D_OP_LOGD(op, ...) OP_LOGD(op, ##__VA_ARGS__)
#endif
#ifndef OP_LOGE_IF
#define OP_LOGE_IF(condition, result, op, ...) \
    do {                                       \
        if (condition) {                       \
            OP_LOGE(op, __VA_ARGS__);          \
            return result;                     \
        }                                      \
    } while (0)
#endif
#ifndef OP_LOGE_WITHOUT_REPORT
#define OP_LOGE_WITHOUT_REPORT(op, ...) ascendopt_log(DLOG_ERROR, __VA_ARGS__)
#endif
#ifndef OP_CHECK_IF
#define OP_CHECK_IF(condition, log, action) \
    do {                                    \
        if (condition) {                    \
            log;                            \
            action;                         \
        }                                   \
    } while (0)
#endif
#ifndef OP_CHECK_NULL_WITH_CONTEXT
#define OP_CHECK_NULL_WITH_CONTEXT(context, pointer)                      \
    do {                                                                  \
        if ((pointer) == nullptr) {                                       \
            ascendopt_log(DLOG_ERROR, "%s is a null pointer.", #pointer); \
            return ge::GRAPH_FAILED;                                      \
        }                                                                 \
    } while (0)
#endif

namespace ascendopt_host {
inline void add_word(std::ostringstream& out, const ge::AscendString& word) {
    out << word.GetString();
}
template <class T> void add_word(std::ostringstream& out, const T& word) { out << word; }
// An invalid argument: the operator, then what is wrong with what, in the caller's words.
template <class Op, class... Words> void log_invalid(const Op&, const Words&... words) {
    std::ostringstream text;
    ((add_word(text, words), text << ' '), ...);
    ascendopt_log(DLOG_ERROR, "invalid: %s", text.str().c_str());
}
}  // namespace ascendopt_host

#define OP_LOGE_FOR_INVALID_VALUE(...) ascendopt_host::log_invalid(__VA_ARGS__)
#define OP_LOGE_FOR_INVALID_VALUE_WITH_REASON(...) ascendopt_host::log_invalid(__VA_ARGS__)
#define OP_LOGE_FOR_INVALID_VALUES_WITH_REASON(...) ascendopt_host::log_invalid(__VA_ARGS__)
#define OP_LOGE_FOR_INVALID_DTYPE(...) ascendopt_host::log_invalid(__VA_ARGS__)
#define OP_LOGE_FOR_INVALID_DTYPE_WITH_REASON(...) ascendopt_host::log_invalid(__VA_ARGS__)
#define OP_LOGE_FOR_INVALID_DTYPES_WITH_REASON(...) ascendopt_host::log_invalid(__VA_ARGS__)
#define OP_LOGE_FOR_INVALID_SHAPE(...) ascendopt_host::log_invalid(__VA_ARGS__)
#define OP_LOGE_FOR_INVALID_SHAPE_WITH_REASON(...) ascendopt_host::log_invalid(__VA_ARGS__)
#define OP_LOGE_FOR_INVALID_SHAPES_WITH_REASON(...) ascendopt_host::log_invalid(__VA_ARGS__)
#define OP_LOGE_FOR_INVALID_SHAPEDIM(...) ascendopt_host::log_invalid(__VA_ARGS__)
#define OP_LOGE_FOR_INVALID_SHAPEDIM_WITH_REASON(...) ascendopt_host::log_invalid(__VA_ARGS__)
#define OP_LOGE_FOR_INVALID_SHAPEDIMS_WITH_REASON(...) ascendopt_host::log_invalid(__VA_ARGS__)
#define OP_LOGE_FOR_INVALID_SHAPESIZE(...) ascendopt_host::log_invalid(__VA_ARGS__)
#define OP_LOGE_FOR_INVALID_SHAPESIZE_WITH_REASON(...) ascendopt_host::log_invalid(__VA_ARGS__)
#define OP_LOGE_FOR_INVALID_SHAPESIZES_WITH_REASON(...) ascendopt_host::log_invalid(__VA_ARGS__)
#define OP_LOGE_FOR_INVALID_FORMAT(...) ascendopt_host::log_invalid(__VA_ARGS__)
#define OP_LOGE_FOR_INVALID_FORMATS_WITH_REASON(...) ascendopt_host::log_invalid(__VA_ARGS__)
#define OP_LOGE_FOR_INVALID_FORMAT_WITH_REASON(...) ascendopt_host::log_invalid(__VA_ARGS__)
#define OP_LOGE_FOR_INVALID_CONFIG_WITH_REASON(...) ascendopt_host::log_invalid(__VA_ARGS__)
#define OP_LOGE_FOR_INVALID_ARGUMENT_WITH_REASON(...) ascendopt_host::log_invalid(__VA_ARGS__)
#define OP_LOGE_FOR_INVALID_GRAPH_NODE(...) ascendopt_host::log_invalid(__VA_ARGS__)
#define OP_LOGE_WITH_INVALID_ATTR_SIZE(...) ascendopt_host::log_invalid(__VA_ARGS__)
#define OP_LOGE_WITH_INVALID_INPUT(...) ascendopt_host::log_invalid(__VA_ARGS__)
#define OP_LOGE_WITH_INVALID_INPUT_DTYPE(...) ascendopt_host::log_invalid(__VA_ARGS__)
#define OP_LOGE_WITH_INVALID_ATTR(...) ascendopt_host::log_invalid(__VA_ARGS__)
#define OP_LOGE_FOR_INVALID_LISTSIZE(...) ascendopt_host::log_invalid(__VA_ARGS__)
#define OP_LOGE_FOR_INVALID_STRIDE(...) ascendopt_host::log_invalid(__VA_ARGS__)
#define OP_LOGE_FOR_INVALID_TENSORNUM(...) ascendopt_host::log_invalid(__VA_ARGS__)
#define OP_LOGE_FOR_INVALID_TENSORNUMS_WITH_REASON(...) ascendopt_host::log_invalid(__VA_ARGS__)

namespace Ops {
namespace Base {
// What a tiling parse would leave for tilings that get no platform; here they always get one.
struct CompileInfoCommon {
    int32_t socVersion = 0;
    uint32_t coreNum = 0;
    uint64_t ubSize = 0;
};

inline const char* GetOpInfo(const char* text) { return text; }
inline std::string GetOpInfo(const std::string& text) { return text; }
template <class C> auto GetOpInfo(const C* context) -> decltype(context->GetNodeName()) {
    return context->GetNodeName();
}
template <class T> bool IsFloatEqual(T a, T b) {
    return std::abs(a - b) <= std::numeric_limits<T>::epsilon();
}
inline const char* GetSafeStr(const char* text) { return text == nullptr ? "nil" : text; }
inline std::string GetSafeStr(const std::string& text) { return text; }

template <class T, class U> constexpr T CeilDiv(T value, U by) {
    return by == 0 ? value : static_cast<T>((value + by - 1) / by);
}
template <class T, class U> constexpr T CeilAlign(T value, U to) {
    return static_cast<T>(CeilDiv(value, to) * to);
}
template <class T, class U> constexpr T FloorDiv(T value, U by) {
    return by == 0 ? value : static_cast<T>(value / by);
}
template <class T, class U> constexpr T FloorAlign(T value, U to) {
    return static_cast<T>(FloorDiv(value, to) * to);
}

std::string ToString(const gert::Shape& shape);
std::string ToString(const gert::Shape* shape);
std::string ToString(ge::DataType type);
std::string ToString(ge::Format format);
std::string ToString(const std::vector<int64_t>& values);
std::string ToString(const std::vector<const gert::Shape*>& shapes);
template <class T> std::string ToString(const T* values, size_t count) {
    return ToString(std::vector<int64_t>(values, values + count));
}

// A scalar counts as one element along one dimension.
const gert::Shape& EnsureNotScalar(const gert::Shape& shape);
bool IsUnknownRank(const gert::Shape& shape);
bool IsUnknownShape(const gert::Shape& shape);
void SetUnknownRank(gert::Shape& shape);
void SetUnknownShape(int64_t rank, gert::Shape& shape);

template <class Context> uint32_t GetUbBlockSize(const Context*) { return 32; }
template <class Context> uint32_t GetCacheLineSize(const Context*) { return 512; }
template <class Context> uint32_t GetVRegSize(const Context*) { return 256; }
template <class Context> uint32_t GetAivCoreNum(const Context* context) {
    return platform_ascendc::PlatformAscendC(context->GetPlatformInfo()).GetCoreNumAiv();
}
// The register-based vector units of later chips; dav-c220 has none.
template <class Context> bool IsRegbaseSocVersion(const Context*) { return false; }

ge::graphStatus InferShape4Elewise(gert::InferShapeContext* context);
ge::graphStatus InferShape4Broadcast(gert::InferShapeContext* context);
// Reduces input 0 along the axes that input 1 holds; attribute 0 says whether they are kept.
ge::graphStatus InferShape4Reduce(gert::InferShapeContext* context);
bool BroadcastShape(const gert::Shape* first, const gert::Shape* second, gert::Shape* result);
bool BroadcastShape(const std::vector<const gert::Shape*>& shapes, gert::Shape* result);

// The shape that is left of `from` when `axes` (negative: from the end) are reduced.
ge::graphStatus reduce_dims(const gert::Shape* from, const std::vector<int64_t>& axes, bool keep,
                            gert::Shape* to);
template <class T>
ge::graphStatus ReduceDimsWithKeepDims(const gert::Shape* from, const T* axes, int32_t count,
                                       gert::Shape* to) {
    return reduce_dims(from, std::vector<int64_t>(axes, axes + count), true, to);
}
template <class T>
ge::graphStatus ReduceDimsWithoutKeepDims(const gert::Shape* from, const T* axes, int32_t count,
                                          gert::Shape* to) {
    return reduce_dims(from, std::vector<int64_t>(axes, axes + count), false, to);
}

// The values of a constant input, widened. False when the host may not read them.
bool constant_values(const gert::Tensor* tensor, std::vector<int64_t>& values);
template <class T, class Context> bool GetConstInt(Context* context, int64_t index, T& value) {
    std::vector<int64_t> values;
    if (!constant_values(context->GetInputTensor(static_cast<size_t>(index)), values) ||
        values.empty()) {
        return false;
    }
    value = static_cast<T>(values.front());
    return true;
}
bool shape_from(const gert::Tensor* tensor, gert::Shape& shape);
template <class T, class Context>
bool GetConstIntToShape(Context* context, int64_t index, gert::Shape& shape) {
    return shape_from(context->GetInputTensor(static_cast<size_t>(index)), shape);
}
template <class T> bool GetValueToShape(const gert::Tensor* tensor, gert::Shape& shape) {
    return shape_from(tensor, shape);
}

// The steps of a tiling, in the order in which they run; a class may say it does not apply.
class TilingBaseClass {
public:
    explicit TilingBaseClass(gert::TilingContext* context) : context_(context) {}
    virtual ~TilingBaseClass() = default;
    virtual void Reset(gert::TilingContext* context) { context_ = context; }
    ge::graphStatus DoTiling();

protected:
    virtual bool IsCapable() = 0;
    virtual ge::graphStatus GetPlatformInfo() = 0;
    virtual ge::graphStatus GetShapeAttrsInfo() = 0;
    virtual ge::graphStatus DoOpTiling() = 0;
    virtual ge::graphStatus DoLibApiTiling() = 0;
    virtual uint64_t GetTilingKey() const = 0;
    virtual ge::graphStatus GetWorkspaceSize() = 0;
    virtual ge::graphStatus PostTiling() = 0;
    virtual void DumpTilingInfo() {}

    struct {
        uint64_t numBlocks = 0;
        uint64_t blockDim = 0;
        uint64_t aicNum = 0;
        uint64_t ubSize = 0;
        uint64_t l1Size = 0;
        uint64_t l0aSize = 0;
        uint64_t l0bSize = 0;
        uint64_t l0cSize = 0;
    } aicoreParams_;
    gert::TilingContext* context_ = nullptr;
    uint64_t numBlocks_ = 0;
    uint64_t blockDim_ = 0;
    uint64_t workspaceSize_ = 0;
    uint64_t tilingKey_ = 0;
};
}  // namespace Base
}  // namespace Ops
