#pragma once

#include "../../host/cpp/detail/decisions.h"
