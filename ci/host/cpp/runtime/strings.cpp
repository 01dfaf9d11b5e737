// Texts of shapes for log lines; repositories declare these functions and expect them in a library.
#include <string>

#include "detail/shape.h"

namespace ops {
std::string ToString(const gert::Shape& shape) {
    std::string text = "[";
    for (size_t i = 0; i < shape.GetDimNum(); ++i) {
        text += (i > 0 ? ", " : "") + std::to_string(shape.GetDim(i));
    }
    return text + "]";
}
std::string ToString(const gert::Shape* shape) {
    return shape == nullptr ? "nil" : ToString(*shape);
}
std::string ToString(ge::DataType type) { return ge::TypeUtils::DataTypeToSerialString(type); }
std::string ToString(ge::Format format) { return ge::TypeUtils::FormatToSerialString(format); }
std::string ToString(const std::vector<int64_t>& values) {
    gert::Shape shape;
    for (const int64_t v : values) shape.AppendDim(v);
    return ToString(shape);
}
}  // namespace ops
