// gert::Shape and what surrounds it: storage shape, formats, tensors.
#pragma once

#include <initializer_list>
#include <limits>

#include "detail/fenced.h"
#include "detail/odd.h"
#include "detail/types.h"

namespace gert {
class Shape {
public:
    static constexpr size_t kMaxDimNum = 25;
    static constexpr int64_t kInvalidDimValue = std::numeric_limits<int64_t>::min();

    Shape() = default;
    Shape(std::initializer_list<int64_t> dims) {
        for (int64_t d : dims) AppendDim(d);
    }
    bool operator==(const Shape& other) const {
        if (count_ != other.count_) return false;
        for (size_t i = 0; i < count_; ++i) {
            if (dims_[i] != other.dims_[i]) return false;
        }
        return true;
    }
    bool operator!=(const Shape& other) const { return !(*this == other); }
    // Elements; 1 for a scalar, negative when a dim is unknown.
    int64_t GetShapeSize() const {
        int64_t size = 1;
        for (size_t i = 0; i < count_; ++i) size *= dims_[i];
        return size;
    }
    bool IsScalar() const { return count_ == 0; }
    void SetScalar() { SetDimNum(0); }
    size_t GetDimNum() const { return count_; }
    void SetDimNum(size_t count) {
        count_ = count > kMaxDimNum ? kMaxDimNum : count;
        if (count == 0) dims_[0] = 0;
        dims_[kMaxDimNum] = 0;
    }
    // A shape that nobody has told: its dimensions are 0, as on the device, and it is told once it
    // is assigned, or given a rank.
    void SetUntold() { dims_[kMaxDimNum] = kInvalidDimValue; }
    bool IsUntold() const {
        return count_ == 0 && dims_[0] == 0 && dims_[kMaxDimNum] == kInvalidDimValue;
    }
    int64_t GetDim(size_t i, const char* file = __builtin_FILE(),
                   int line = __builtin_LINE()) const {
        if (i >= count_)
            host::note_odd("beyond_rank",
                           "GetDim(" + std::to_string(static_cast<int64_t>(i)) +
                               ") is asked of a shape with " + std::to_string(count_) +
                               " dimensions.",
                           file, line);
        return i < kMaxDimNum ? dims_[i] : kInvalidDimValue;
    }
    const int64_t& operator[](size_t i) const { return dims_[i < kMaxDimNum ? i : kMaxDimNum]; }
    int64_t& operator[](size_t i) { return dims_[i < kMaxDimNum ? i : kMaxDimNum]; }
    void SetDim(size_t i, int64_t value) {
        if (i < kMaxDimNum) dims_[i] = value;
    }
    Shape& AppendDim(int64_t value) {
        if (count_ < kMaxDimNum) dims_[count_++] = value;
        return *this;
    }

private:
    size_t count_ = 0;
    int64_t dims_[kMaxDimNum + 1] = {};
};

class ExpandDimsType {
public:
    ExpandDimsType() = default;
    explicit ExpandDimsType(const char*) {}
    explicit ExpandDimsType(const int64_t&) {}
};

class StorageShape {
public:
    StorageShape() = default;
    StorageShape(std::initializer_list<int64_t> origin, std::initializer_list<int64_t> storage)
        : origin_(origin), storage_(storage) {}
    StorageShape(const Shape& origin, const Shape& storage) : origin_(origin), storage_(storage) {}
    const Shape& GetOriginShape() const { return origin_; }
    const Shape& GetStorageShape() const { return storage_; }
    const Shape& GetShape() const { return storage_; }
    Shape& MutableOriginShape() { return origin_; }
    Shape& MutableStorageShape() { return storage_; }
    void SetOriginShape(const Shape& shape) { origin_ = shape; }
    void SetStorageShape(const Shape& shape) { storage_ = shape; }
    bool operator==(const StorageShape& o) const {
        return origin_ == o.origin_ && storage_ == o.storage_;
    }
    bool operator!=(const StorageShape& o) const { return !(*this == o); }

private:
    Shape origin_;
    Shape storage_;
};

class StorageFormat {
public:
    StorageFormat() = default;
    StorageFormat(ge::Format origin, ge::Format storage, const ExpandDimsType&)
        : origin_(origin), storage_(storage) {}
    ge::Format GetOriginFormat() const { return origin_; }
    ge::Format GetStorageFormat() const { return storage_; }
    void SetOriginFormat(ge::Format format) { origin_ = format; }
    void SetStorageFormat(ge::Format format) { storage_ = format; }
    ExpandDimsType GetExpandDimsType() const { return ExpandDimsType(); }

private:
    ge::Format origin_ = ge::FORMAT_ND;
    ge::Format storage_ = ge::FORMAT_ND;
};

enum TensorPlacement : int32_t {
    kOnDeviceHbm = 0,
    kOnHost = 1,
    kFollowing = 2,
    kOnDeviceP2p = 3,
    kTensorPlacementEnd = 4
};
class TensorPlacementUtils {
public:
    static bool IsOnDeviceHbm(TensorPlacement place) { return place == kOnDeviceHbm; }
    static bool IsOnDeviceP2p(TensorPlacement place) { return place == kOnDeviceP2p; }
    static bool IsOnDevice(TensorPlacement place) {
        return IsOnDeviceHbm(place) || IsOnDeviceP2p(place);
    }
    static bool IsOnHostFollowing(TensorPlacement place) { return place == kFollowing; }
    static bool IsOnHostNotFollowing(TensorPlacement place) { return place == kOnHost; }
    static bool IsOnHost(TensorPlacement place) {
        return IsOnHostFollowing(place) || IsOnHostNotFollowing(place);
    }
};
using TensorAddress = void*;
using TensorAddrManager = ge::graphStatus (*)(TensorAddress, int32_t, void**);

class CompileTimeTensorDesc {
public:
    ge::DataType GetDataType() const { return data_type_; }
    const StorageFormat& GetFormat() const { return format_; }
    ge::Format GetStorageFormat() const { return format_.GetStorageFormat(); }
    ge::Format GetOriginFormat() const { return format_.GetOriginFormat(); }
    ExpandDimsType GetExpandDimsType() const { return ExpandDimsType(); }
    void SetDataType(ge::DataType data_type) { data_type_ = data_type; }
    void SetStorageFormat(ge::Format format) { format_.SetStorageFormat(format); }
    void SetOriginFormat(ge::Format format) { format_.SetOriginFormat(format); }

private:
    ge::DataType data_type_ = ge::DT_UNDEFINED;
    StorageFormat format_;
};

// A tensor as the host sees it: shape, format, dtype, and the values where it may read them.
class Tensor {
public:
    Tensor() = default;
    const StorageShape& GetShape() const { return shape_; }
    StorageShape& MutableShape() { return shape_; }
    StorageShape& GetShape() { return shape_; }
    const Shape& GetStorageShape() const { return shape_.GetStorageShape(); }
    const Shape& GetOriginShape() const { return shape_.GetOriginShape(); }
    Shape& MutableStorageShape() { return shape_.MutableStorageShape(); }
    Shape& MutableOriginShape() { return shape_.MutableOriginShape(); }
    int64_t GetShapeSize() const { return shape_.GetStorageShape().GetShapeSize(); }
    ge::DataType GetDataType() const { return desc_.GetDataType(); }
    void SetDataType(ge::DataType data_type) { desc_.SetDataType(data_type); }
    const StorageFormat& GetFormat() const { return desc_.GetFormat(); }
    ge::Format GetStorageFormat() const { return desc_.GetStorageFormat(); }
    ge::Format GetOriginFormat() const { return desc_.GetOriginFormat(); }
    void SetStorageFormat(ge::Format format) { desc_.SetStorageFormat(format); }
    void SetOriginFormat(ge::Format format) { desc_.SetOriginFormat(format); }
    size_t GetSize() const { return data_.size(); }
    TensorPlacement GetPlacement() const { return readable_ ? kOnHost : kOnDeviceHbm; }
    // Null unless the operator declared that its host side depends on this input's values.
    const void* GetAddr() const { return const_cast<Tensor*>(this)->GetAddr(); }
    void* GetAddr() {
        if (!readable_) asked_in_vain = input_;
        return readable_ && !data_.empty() ? data_.data() : nullptr;
    }
    template <class T> const T* GetData() const { return static_cast<const T*>(GetAddr()); }
    template <class T> T* GetData() { return static_cast<T*>(GetAddr()); }

    CompileTimeTensorDesc& desc() { return desc_; }
    const CompileTimeTensorDesc& desc() const { return desc_; }
    void give_data(const std::vector<uint8_t>& data) { data_.assign(data.begin(), data.end()); }
    void allow_reading() { readable_ = true; }
    void is_input(int index) { input_ = index; }

    // The input of the definition whose values were asked for last though they may not be read.
    static inline int asked_in_vain = -1;

private:
    int input_ = -1;
    StorageShape shape_;
    CompileTimeTensorDesc desc_;
    std::vector<uint8_t, Fenced<uint8_t>> data_;
    bool readable_ = false;
};

// Of a tensor that is a view: elements from one index to the next, by dimension.
class Stride {
public:
    size_t GetDimNum() const { return strides_.size(); }
    int64_t GetStride(size_t i) const { return i < strides_.size() ? strides_[i] : 0; }

private:
    std::vector<int64_t> strides_;
};

template <class T> class Range {
public:
    Range() = default;
    Range(T* min, T* max) : min_(min), max_(max) {}
    explicit Range(T* both) : min_(both), max_(both) {}
    const T* GetMin() const { return min_; }
    const T* GetMax() const { return max_; }
    T* GetMin() { return min_; }
    T* GetMax() { return max_; }
    void SetMin(T* value) { min_ = value; }
    void SetMax(T* value) { max_ = value; }

private:
    T* min_ = nullptr;
    T* max_ = nullptr;
};
using TensorRange = Range<Tensor>;
}  // namespace gert
