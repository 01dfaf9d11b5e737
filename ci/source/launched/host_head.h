// What the host side of a launched kernel, as ascendopt writes it from a workload, begins with.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <limits>
#include "register/op_def_registry.h"
#include "tiling/platform/platform_ascendc.h"

namespace {
const gert::Shape& Plain(const gert::Shape* shape) { return *shape; }
const gert::Shape& Plain(const gert::StorageShape* shape) { return shape->GetStorageShape(); }

// Numbers of the inputs, and arithmetic that says where it has no result.
template <class Context> class Given {
public:
    explicit Given(Context* context) : context_(context) {}
    int64_t Rank(int input) { return Plain(context_->GetInputShape(input)).GetDimNum(); }
    int64_t Size(int input) { return Plain(context_->GetInputShape(input)).GetShapeSize(); }
    int64_t Dim(int input, int64_t axis) {
        const int64_t rank = Rank(input);
        axis = axis < 0 ? axis + rank : axis;
        if (!Possible(axis >= 0 && axis < rank)) return 0;
        return Plain(context_->GetInputShape(input)).GetDim(axis);
    }
    int64_t ItemBytes(int input) {
        return ge::GetSizeByDataType(context_->GetInputDesc(input)->GetDataType());
    }
    int64_t Quotient(int64_t a, int64_t b) {
        if (!Possible(b != 0)) return 0;
        return a / b - (a % b != 0 && (a < 0) != (b < 0));
    }
    int64_t Remainder(int64_t a, int64_t b) { return a - Quotient(a, b) * b; }
    int64_t RoundedUp(int64_t a, int64_t b) { return -Quotient(-a, b); }
    double Ratio(double a, double b) { return Possible(b != 0) ? a / b : 0; }
    template <class T> T Fitting(int64_t number) {
        Possible(number >= static_cast<int64_t>(std::numeric_limits<T>::min()) &&
                 (number < 0 || static_cast<uint64_t>(number) <=
                                    static_cast<uint64_t>(std::numeric_limits<T>::max())));
        return static_cast<T>(number);
    }
    bool Possible(bool fact) { return possible_ = possible_ && fact; }
    bool Possible() const { return possible_; }

private:
    Context* context_;
    bool possible_ = true;
};

template <class T> void Put(uint8_t* data, T value) { std::memcpy(data, &value, sizeof(T)); }

ge::graphStatus Refused(const char* what) {
    std::fprintf(stderr, "[ERROR] %s of workload.yaml has no value for these inputs\n", what);
    return ge::GRAPH_FAILED;
}
}  // namespace
