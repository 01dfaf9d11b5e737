// Operators of the graph engine.
#pragma once

#include "graph/operator.h"
