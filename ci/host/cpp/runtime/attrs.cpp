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

const void* RuntimeAttrs::find(size_t index, unsigned kinds, const char* file, int line) const {
    if (index >= values_.size()) return nullptr;
    const Value& v = *values_[index];
    host::note_asked("attribute", index, file, line);
    constexpr const char* kWords[] = {"an int", "a float", "a bool", "a string", "a list"};
    if (v.kind != Value::kMissing && (kinds >> v.kind & 1) == 0)
        host::note_odd("attribute_type",
                       "Attribute " + std::to_string(index) + " (counted from 0) is " +
                           kWords[v.kind] + ", and is read as something else.",
                       file, line);
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
