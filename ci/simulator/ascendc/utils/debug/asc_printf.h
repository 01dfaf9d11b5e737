// What a kernel prints without naming the namespace.
#pragma once

#include "kernel_operator.h"

using AscendC::printf;
