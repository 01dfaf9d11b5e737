// The AscendC kernel API of this machine: what an operator's kernel includes. Written from the
// public API documentation; every call lowers to the instructions of machine/intrinsics.h.
#pragma once

#include "api/cube.h"
#include "api/data_copy.h"
#include "api/list_tensor.h"
#include "api/vector_binary.h"
#include "api/vector_cast.h"
#include "api/vector_compare.h"
#include "api/vector_fill.h"
#include "api/vector_gather.h"
#include "api/vector_reduce.h"
#include "api/vector_sort.h"
#include "api/vector_unary.h"
#include "math/activation.h"
#include "math/elementary.h"
#include "math/index_pad.h"
#include "math/power.h"
#include "math/quantise.h"
#include "math/reduce.h"
#include "math/reduce_pattern.h"
#include "math/softmax.h"
#include "math/softmax_flash.h"
