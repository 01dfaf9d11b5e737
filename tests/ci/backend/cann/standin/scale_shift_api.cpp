#include "aclnn_scale_shift.h"
static const aclTensor* from;
static const aclTensor* to;
aclnnStatus aclnnScaleShiftGetWorkspaceSize(const aclTensor* x, const aclTensor* out, uint64_t* bytes,
                                            aclOpExecutor**) {
    if (x == nullptr || out == nullptr || x->count != out->count) return 161002;
    from = x, to = out, *bytes = 64;
    return 0;
}
aclnnStatus aclnnScaleShift(void* workspace, uint64_t, aclOpExecutor*, aclrtStream) {
    if (workspace == nullptr) return 561103;
    for (size_t i = 0; i < from->count; ++i)
        static_cast<float*>(to->data)[i] = static_cast<float*>(from->data)[i] * 2 + 1;
    return 0;
}
