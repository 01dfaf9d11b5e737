// Flags at the end of a block.
#pragma once

namespace dav {

// Called when a block ends: a flag that is still set ends the launch as unbalanced, because it
// would let the next operator's first wait through.
void check_flags_at_end();

}  // namespace dav
