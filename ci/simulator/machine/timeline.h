// The timeline of a launch: what every core did when, as JSON lines.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core_timer.h"

namespace dav {

// One line a core (its totals), then one an instruction and one a wait between pipes. Cores after
// the first have no instruction lines once MOST_LINES are written; their totals are always there.
void write_timeline(const std::string& path, const std::vector<std::unique_ptr<CoreTimer>>& timers);

}  // namespace dav
