// The values of a node's attributes.
#include "detail/attrs.h"

namespace gert {
void ContinuousVector::fill(const void* data, size_t count, size_t element_bytes) {
    const auto* first = static_cast<const uint8_t*>(data);
    bytes_.assign(first, first + count * element_bytes);
    size_ = count;
}

size_t RuntimeAttrs::GetAttrNum() const { return values_.size(); }

void RuntimeAttrs::add(const Value& value) { values_.push_back(std::make_unique<Value>(value)); }

const void* RuntimeAttrs::find(size_t index) const {
    if (index >= values_.size()) return nullptr;
    const Value& v = *values_[index];
    switch (v.kind) {
        case Value::kInt: return &v.integer;
        case Value::kFloat: return &v.real;
        case Value::kBool: return &v.truth;
        case Value::kString: return v.text.c_str();
        case Value::kList: return &v.list;
        default: return nullptr;
    }
}
}  // namespace gert
