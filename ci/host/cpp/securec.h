// The bounds-checked string functions that host code expects from a platform library.
#pragma once

#include <cstdarg>
#include <cstdio>
#include <cstring>

using errno_t = int;
#ifndef EOK
#define EOK 0
#endif
#define EINVAL_AND_RESET 150
#define ERANGE_AND_RESET 162
#ifndef SECUREC_MEM_MAX_LEN
#define SECUREC_MEM_MAX_LEN 0x7fffffffUL
#endif

inline errno_t memcpy_s(void* to, size_t room, const void* from, size_t count) {
    if (to == nullptr || from == nullptr || count > room) return ERANGE_AND_RESET;
    std::memmove(to, from, count);
    return EOK;
}
inline errno_t memmove_s(void* to, size_t room, const void* from, size_t count) {
    return memcpy_s(to, room, from, count);
}
inline errno_t memset_s(void* to, size_t room, int value, size_t count) {
    if (to == nullptr || count > room) return ERANGE_AND_RESET;
    std::memset(to, value, count);
    return EOK;
}
inline errno_t strncpy_s(char* to, size_t room, const char* from, size_t count) {
    if (to == nullptr || from == nullptr) return EINVAL_AND_RESET;
    size_t length = 0;
    while (length < count && from[length] != '\0') {
        ++length;
    }
    if (length >= room) return ERANGE_AND_RESET;
    std::memcpy(to, from, length);
    to[length] = '\0';
    return EOK;
}
inline errno_t strcpy_s(char* to, size_t room, const char* from) {
    return strncpy_s(to, room, from, room);
}
inline errno_t strcat_s(char* to, size_t room, const char* from) {
    const size_t used = to == nullptr ? room : std::strlen(to);
    return used >= room ? ERANGE_AND_RESET : strcpy_s(to + used, room - used, from);
}
inline int vsnprintf_s(char* to, size_t room, size_t count, const char* format, va_list list) {
    const size_t limit = count + 1 < room ? count + 1 : room;
    const int written = std::vsnprintf(to, limit, format, list);
    return written < 0 || static_cast<size_t>(written) >= limit ? -1 : written;
}
inline int snprintf_s(char* to, size_t room, size_t count, const char* format, ...) {
    va_list list;
    va_start(list, format);
    const int written = vsnprintf_s(to, room, count, format, list);
    va_end(list);
    return written;
}
inline int sprintf_s(char* to, size_t room, const char* format, ...) {
    va_list list;
    va_start(list, format);
    const int written = vsnprintf_s(to, room, room - 1, format, list);
    va_end(list);
    return written;
}
