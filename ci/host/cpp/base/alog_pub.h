// Logging and error reports.
#pragma once

#include "detail/log.h"
