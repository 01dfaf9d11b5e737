// Attribute values of one node, in the order of the op definition.
#pragma once

#include "detail/fenced.h"
#include "detail/odd.h"
#include "detail/types.h"

namespace gert {
class ContinuousVector {
public:
    size_t GetSize() const { return size_; }
    size_t GetCapacity() const { return size_; }
    const void* GetData() const { return bytes_.data(); }
    void* MutableData() { return bytes_.data(); }
    void fill(const void* data, size_t count, size_t element_bytes);

private:
    size_t size_ = 0;
    std::vector<uint8_t, Fenced<uint8_t>> bytes_;
};

template <class T> class TypedContinuousVector : public ContinuousVector {
public:
    const T* GetData() const { return static_cast<const T*>(ContinuousVector::GetData()); }
    T* MutableData() { return static_cast<T*>(ContinuousVector::MutableData()); }
};

class ContinuousVectorVector {
public:
    size_t GetSize() const { return rows_.size(); }
    const ContinuousVector* Get(size_t i) const { return i < rows_.size() ? &rows_[i] : nullptr; }

private:
    std::vector<ContinuousVector> rows_;
};

class RuntimeAttrs {
public:
    template <class T>
    const T* GetAttrPointer(size_t index, const char* file = __builtin_FILE(),
                            int line = __builtin_LINE()) const {
        return static_cast<const T*>(find(index, kinds_of<T>(), file, line));
    }
    const int64_t* GetInt(size_t index, const char* file = __builtin_FILE(),
                          int line = __builtin_LINE()) const {
        return GetAttrPointer<int64_t>(index, file, line);
    }
    const float* GetFloat(size_t index, const char* file = __builtin_FILE(),
                          int line = __builtin_LINE()) const {
        return GetAttrPointer<float>(index, file, line);
    }
    const bool* GetBool(size_t index, const char* file = __builtin_FILE(),
                        int line = __builtin_LINE()) const {
        return GetAttrPointer<bool>(index, file, line);
    }
    const char* GetStr(size_t index, const char* file = __builtin_FILE(),
                       int line = __builtin_LINE()) const {
        return GetAttrPointer<char>(index, file, line);
    }
    const TypedContinuousVector<int64_t>* GetListInt(size_t index,
                                                     const char* file = __builtin_FILE(),
                                                     int line = __builtin_LINE()) const {
        return GetAttrPointer<TypedContinuousVector<int64_t>>(index, file, line);
    }
    const TypedContinuousVector<float>* GetListFloat(size_t index,
                                                     const char* file = __builtin_FILE(),
                                                     int line = __builtin_LINE()) const {
        return GetAttrPointer<TypedContinuousVector<float>>(index, file, line);
    }
    const ContinuousVectorVector* GetListListInt(size_t) const { return nullptr; }
    size_t GetAttrNum() const;

    struct Value {
        int64_t integer = 0;
        float real = 0;
        bool truth = false;
        std::string text;
        ContinuousVector list;
        enum Kind { kInt, kFloat, kBool, kString, kList, kMissing } kind = kMissing;
    };
    void add(const Value& value);

private:
    // The kinds of attributes whose value may be read as a T, as bits. Bytes of a number are read
    // as a smaller number, too.
    template <class T> static constexpr unsigned kinds_of() {
        if constexpr (std::is_same_v<T, char>) return 1u << Value::kString;
        if constexpr (std::is_same_v<T, bool>) return 1u << Value::kBool | 1u << Value::kInt;
        if constexpr (std::is_integral_v<T>) return 1u << Value::kInt | 1u << Value::kBool;
        if constexpr (std::is_floating_point_v<T>) return 1u << Value::kFloat;
        if constexpr (std::is_base_of_v<ContinuousVector, T>) return 1u << Value::kList;
        return ~0u;
    }
    const void* find(size_t index, unsigned kinds, const char* file, int line) const;
    std::vector<std::unique_ptr<Value>> values_;
};
}  // namespace gert
