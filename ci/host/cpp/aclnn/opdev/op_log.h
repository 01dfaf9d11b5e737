// The logging macros that some host sources take from the operator interface's headers.
#pragma once

#include "detail/ops_base.h"
