// What the chip has.
#pragma once

#include <csignal>
#include "detail/platform.h"
