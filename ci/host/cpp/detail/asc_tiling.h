// The tiling library of the user's own AscendC tree instead of ours.
#pragma once

#include "detail/ge_shape.h"
#include "detail/log.h"
#include "detail/platform.h"
#include "detail/tiling_data.h"
// The structs are made from the same tree and lie beside the prelude.
#include <kernel_tiling/kernel_tiling.h>

// Its description of the platform stays out: ours stands for it.
#ifndef PLATFORM_ASCENDC_H
#define PLATFORM_ASCENDC_H
#endif
#include <adv_api/tiling_api.h>
