// The Matmul API's block on this cube core.
#pragma once

#include "intrinsics_matmul.h"

namespace dav {

// Computes the product, or nothing where a size is not positive; ends the launch with a sentence
// for a tiling that does not fit.
void multiply(const DavMatmul& product, const void* site);

}  // namespace dav
