// Helpers of tiling functions, by their other name.
#pragma once

#include "runtime2_util.h"
