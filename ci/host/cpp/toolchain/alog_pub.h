// Logging.
#pragma once

#include "detail/log.h"
