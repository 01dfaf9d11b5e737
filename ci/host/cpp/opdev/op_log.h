// The logging macros of the operator interface, by their short path.
#pragma once

#include "aclnn/opdev/op_log.h"
