// The timing pass: replays the records of all cores against pipes, flags and shared memory.
#pragma once

#include <string>

#include "profile.h"

namespace dav {

// Times the launch. `timeline`: where to write one JSON line an instruction of core 0, or empty.
Profile time_launch(const std::string& timeline);

}  // namespace dav
