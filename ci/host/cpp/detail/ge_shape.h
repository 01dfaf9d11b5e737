// ge::Shape: extents as the tiling helpers of the library take them.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <vector>

#include "detail/types.h"

namespace ge {
class Shape {
public:
    Shape() = default;
    explicit Shape(const std::vector<int64_t>& dims) : dims_(dims) {}
    Shape(std::initializer_list<int64_t> dims) : dims_(dims) {}
    size_t GetDimNum() const { return dims_.size(); }
    int64_t GetDim(size_t i) const { return i < dims_.size() ? dims_[i] : 0; }
    graphStatus SetDim(size_t i, int64_t value) {
        if (i >= dims_.size()) return GRAPH_FAILED;
        dims_[i] = value;
        return GRAPH_SUCCESS;
    }
    std::vector<int64_t> GetDims() const { return dims_; }
    int64_t GetShapeSize() const {
        int64_t size = dims_.empty() ? 0 : 1;
        for (const int64_t d : dims_) size *= d;
        return size;
    }

private:
    std::vector<int64_t> dims_;
};
}  // namespace ge
