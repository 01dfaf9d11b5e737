// Op definitions and the registration of their functions.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>
#include "detail/log.h"
#include "detail/op_def.h"
#include "graph/operator.h"
#include "detail/tiling_data.h"

// Host sources use these names unqualified, inside and outside the ops namespace.
using namespace ops;
using std::map;
using std::string;
using std::vector;
