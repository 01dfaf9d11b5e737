// The timing pass: replays the records of all cores against pipes, flags and shared memory.
#pragma once

#include <string>

#include "constants.h"
#include "profile.h"

namespace dav {

// Times the launch with the device's constants. `timeline`: where to write one JSON line an
// instruction of core 0, or empty.
Profile time_launch(const std::string& timeline);
// Times it once more with other constants: cycles from the launch to the end of the last core.
double cycles_with(const Constants& constants);

}  // namespace dav
