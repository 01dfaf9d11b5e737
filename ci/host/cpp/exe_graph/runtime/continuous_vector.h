// Attribute values.
#pragma once

#include "detail/attrs.h"
