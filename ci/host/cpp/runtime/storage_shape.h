// Shapes and tensors.
#pragma once

#include "detail/shape.h"
