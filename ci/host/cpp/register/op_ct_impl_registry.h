// Same registration under its other name.
#pragma once

#include "register/op_impl_registry.h"
