// Scratch sizes of the mathematical library.
#pragma once

#include "detail/library_tiling.h"
