// What an example's host program is compiled after. It holds host and device code together, and our
// headers of both sides define some names each: those of the host stand in a namespace of their
// own.
#pragma once

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>

#define AscendC ascendopt_host_api
#include "host_prelude.h"
#include "tiling/platform/platform_ascendc.h"
#define TCubeTiling ascendopt_host_cube_tiling
#include "tiling/tiling_api.h"
#undef TCubeTiling
#undef AscendC
namespace AscendC {
using namespace ascendopt_host_api;
}

#include "kernel_operator.h"
#include "lib/matmul_intf.h"
// Names of the host's enumerations, which are macros for the operator build's kernels.
#include "host_names.h"
