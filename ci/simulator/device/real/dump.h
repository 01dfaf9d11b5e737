// Dumping a tensor from a kernel. The headers overload it on memory qualifiers, which are empty
// here, so their file is kept out by its guard; a kernel that dumps prints nothing.
#pragma once

#define IMPL_UTILS_DEBUG_ASC_AICORE_DUMP_IMPL_H

namespace __asc_aicore {
#define ASCENDOPT_NO_DUMP(name) \
    template <typename T, typename... Rest> inline void name(T*, uint32_t, uint32_t, Rest...) {}
ASCENDOPT_NO_DUMP(asc_dump)
ASCENDOPT_NO_DUMP(asc_dump_gm)
ASCENDOPT_NO_DUMP(asc_dump_ubuf)
ASCENDOPT_NO_DUMP(asc_dump_abuf)
ASCENDOPT_NO_DUMP(asc_dump_bbuf)
ASCENDOPT_NO_DUMP(asc_dump_cbuf)
ASCENDOPT_NO_DUMP(asc_dump_l1buf)
#undef ASCENDOPT_NO_DUMP
template <typename... Arguments> inline void asc_dump_shape_impl(Arguments...) {}
}  // namespace __asc_aicore
