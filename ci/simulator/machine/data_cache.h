// The scalar unit's data cache: copies pass it by, and other cores have one of their own.
#pragma once

#include <cstdint>

#include "machine.h"

namespace dav {

// The running core's line that holds this address of global memory, or null.
CacheLine* cached(uint64_t address);

// The line is dirty with what the running core's shared access of this number wrote.
void soil(CacheLine& line, size_t access);

// A scalar access of the running core; answers whether its line was there. Reading a line that a
// copy has made stale is a warning.
bool through_cache(const Transfer& span, const char* name, const void* site);

// A copy of the running core: what it reads should not be dirty in the cache (a warning), and what
// it writes makes lines there stale.
void past_cache(const Transfer& span, const char* mnemonic, const void* site);

// Names a store of the running core that is still in its cache when its block has ended.
void note_left_in_cache();

// Writes lines back and forgets them (DataCacheCleanAndInvalid).
void empty_cache();
void empty_cache_line(uint64_t address);

}  // namespace dav
