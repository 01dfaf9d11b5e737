// Tuning banks map a tiling context to stored tilings; none exist here.
#pragma once

#include "detail/context.h"

namespace tuningtiling {}
#define DECLARE_STRUCT_RELATE_WITH_OP(...)
#define DECLARE_STRUCT_RELATE_WITH_OP_V2(...)
#define REGISTER_OP_BANK_KEY_CONVERT_FUN(...)
#define REGISTER_OP_BANK_KEY_CONVERT_FUN_V2(...)
#define REGISTER_OP_BANK_KEY_PARSE_FUN(...)
#define REGISTER_OP_BANK_KEY_PARSE_FUN_V2(...)
