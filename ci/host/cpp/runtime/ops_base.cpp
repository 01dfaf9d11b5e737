// The base library of the ops-math layout.
#include "detail/ops_base.h"

#include <algorithm>

namespace ops {
std::string ToString(const gert::Shape& shape);
std::string ToString(const gert::Shape* shape);
std::string ToString(const std::vector<int64_t>& values);
}  // namespace ops

namespace Ops {
namespace Base {
std::string ToString(const gert::Shape& shape) { return ops::ToString(shape); }
std::string ToString(const gert::Shape* shape) { return ops::ToString(shape); }
std::string ToString(ge::DataType type) { return ge::TypeUtils::DataTypeToSerialString(type); }
std::string ToString(ge::Format format) { return ge::TypeUtils::FormatToSerialString(format); }
std::string ToString(const std::vector<int64_t>& values) { return ops::ToString(values); }
std::string ToString(const std::vector<const gert::Shape*>& shapes) {
    std::string text;
    for (const gert::Shape* shape : shapes) text += (text.empty() ? "" : ", ") + ToString(shape);
    return "[" + text + "]";
}

const gert::Shape& EnsureNotScalar(const gert::Shape& shape) {
    static const gert::Shape one{1};
    return shape.IsScalar() ? one : shape;
}

bool IsUnknownRank(const gert::Shape& shape) {
    return shape.GetDimNum() == 1 && shape.GetDim(0) == ge::UNKNOWN_DIM_NUM;
}

bool IsUnknownShape(const gert::Shape& shape) {
    for (size_t i = 0; i < shape.GetDimNum(); ++i) {
        if (shape.GetDim(i) == ge::UNKNOWN_DIM) return true;
    }
    return false;
}

void SetUnknownRank(gert::Shape& shape) { shape = gert::Shape{ge::UNKNOWN_DIM_NUM}; }

void SetUnknownShape(int64_t rank, gert::Shape& shape) {
    shape.SetDimNum(static_cast<size_t>(rank));
    for (size_t i = 0; i < shape.GetDimNum(); ++i) shape.SetDim(i, ge::UNKNOWN_DIM);
}

ge::graphStatus InferShape4Elewise(gert::InferShapeContext* context) {
    const gert::Shape* in = context->GetInputShape(0);
    gert::Shape* out = context->GetOutputShape(0);
    if (in == nullptr || out == nullptr) return ge::GRAPH_FAILED;
    *out = *in;
    return ge::GRAPH_SUCCESS;
}

bool BroadcastShape(const gert::Shape* first, const gert::Shape* second, gert::Shape* result) {
    if (first == nullptr || second == nullptr || result == nullptr) return false;
    const size_t rank = std::max(first->GetDimNum(), second->GetDimNum());
    gert::Shape merged;
    for (size_t i = 0; i < rank; ++i) {
        const size_t missing_a = rank - first->GetDimNum();
        const size_t missing_b = rank - second->GetDimNum();
        const int64_t a = i < missing_a ? 1 : first->GetDim(i - missing_a);
        const int64_t b = i < missing_b ? 1 : second->GetDim(i - missing_b);
        if (a != b && a != 1 && b != 1) return false;
        merged.AppendDim(a == 1 ? b : a);
    }
    *result = merged;
    return true;
}

bool BroadcastShape(const std::vector<const gert::Shape*>& shapes, gert::Shape* result) {
    gert::Shape merged;
    for (const gert::Shape* shape : shapes) {
        const gert::Shape before = merged;
        if (!BroadcastShape(&before, shape, &merged)) return false;
    }
    if (result == nullptr) return false;
    *result = merged;
    return true;
}

ge::graphStatus InferShape4Broadcast(gert::InferShapeContext* context) {
    const bool fits = BroadcastShape(context->GetInputShape(0), context->GetInputShape(1),
                                     context->GetOutputShape(0));
    return fits ? ge::GRAPH_SUCCESS : ge::GRAPH_FAILED;
}

ge::graphStatus reduce_dims(const gert::Shape* from, const std::vector<int64_t>& axes, bool keep,
                            gert::Shape* to) {
    if (from == nullptr || to == nullptr) return ge::GRAPH_FAILED;
    const auto rank = static_cast<int64_t>(from->GetDimNum());
    std::set<int64_t> reduced;
    for (const int64_t axis : axes) {
        if (axis < -rank || axis >= rank) return ge::GRAPH_FAILED;
        reduced.insert(axis < 0 ? axis + rank : axis);
    }
    gert::Shape left;
    for (int64_t i = 0; i < rank; ++i) {
        if (reduced.count(i) == 0) {
            left.AppendDim(from->GetDim(static_cast<size_t>(i)));
        } else if (keep) {
            left.AppendDim(1);
        }
    }
    *to = left;
    return ge::GRAPH_SUCCESS;
}

bool constant_values(const gert::Tensor* tensor, std::vector<int64_t>& values) {
    if (tensor == nullptr || tensor->GetAddr() == nullptr) return false;
    const auto count = static_cast<size_t>(tensor->GetShapeSize());
    if (tensor->GetDataType() == ge::DT_INT32) {
        const auto* data = tensor->GetData<int32_t>();
        values.assign(data, data + count);
        return true;
    }
    if (tensor->GetDataType() == ge::DT_INT64) {
        const auto* data = tensor->GetData<int64_t>();
        values.assign(data, data + count);
        return true;
    }
    return false;
}

bool shape_from(const gert::Tensor* tensor, gert::Shape& shape) {
    std::vector<int64_t> values;
    if (!constant_values(tensor, values)) return false;
    shape.SetDimNum(0);
    for (const int64_t v : values) shape.AppendDim(v);
    return true;
}

ge::graphStatus InferShape4Reduce(gert::InferShapeContext* context) {
    std::vector<int64_t> axes;
    if (!constant_values(context->GetInputTensor(1), axes)) return ge::GRAPH_FAILED;
    const auto* keep = context->GetAttrs()->GetAttrPointer<bool>(0);
    return reduce_dims(context->GetInputShape(0), axes, keep != nullptr && *keep,
                       context->GetOutputShape(0));
}

ge::graphStatus TilingBaseClass::DoTiling() {
    using Step = ge::graphStatus (TilingBaseClass::*)();
    for (const Step step :
         {&TilingBaseClass::GetShapeAttrsInfo, &TilingBaseClass::GetPlatformInfo}) {
        if (const auto status = (this->*step)(); status != ge::GRAPH_SUCCESS) return status;
    }
    if (!IsCapable()) return ge::GRAPH_PARAM_INVALID;
    for (const Step step : {&TilingBaseClass::DoOpTiling, &TilingBaseClass::DoLibApiTiling,
                            &TilingBaseClass::GetWorkspaceSize, &TilingBaseClass::PostTiling}) {
        if (const auto status = (this->*step)(); status != ge::GRAPH_SUCCESS) return status;
    }
    context_->SetTilingKey(GetTilingKey());
    DumpTilingInfo();
    return ge::GRAPH_SUCCESS;
}
}  // namespace Base
}  // namespace Ops
