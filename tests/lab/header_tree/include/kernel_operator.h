// A miniature of a device-path AscendC header tree, written for the tests: enough API for a small
// operator, lowered to the device compiler's instructions, with local addresses from 0.
#pragma once

#include "kernel_tensor.h"
#include "kernel_tiling/kernel_tiling.h"
#include "vector_impl.h"
