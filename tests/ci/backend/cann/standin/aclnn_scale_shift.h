// As op_build generates it from the definition.
#include <aclnn/acl_meta.h>
extern "C" {
/* function: aclnnScaleShiftGetWorkspaceSize
 * x : required
 * out : required
 */
__attribute__((visibility("default"))) aclnnStatus aclnnScaleShiftGetWorkspaceSize(
    const aclTensor *x, const aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);
__attribute__((visibility("default"))) aclnnStatus aclnnScaleShift(void *workspace, uint64_t workspaceSize,
                                                                 aclOpExecutor *executor, aclrtStream stream);
}
