// The Matmul API. A kernel that defines ASCENDC_CUBE_ONLY before it runs on cube cores alone.
#pragma once

#include "../api/matmul.h"
#include "../kernel_operator.h"

#ifdef ASCENDC_CUBE_ONLY
#define ASC_MATMUL_MARK ASC_MARK(cube_only)
#else
#define ASC_MATMUL_MARK ASC_MARK(matmul)
#endif

// Some kernels name these without their namespace.
using AscendC::GetMDLConfig;
using AscendC::GetNormalConfig;
