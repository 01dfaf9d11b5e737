// The base library of host sources, by the name it had before.
#pragma once

#include "detail/ops_base.h"
