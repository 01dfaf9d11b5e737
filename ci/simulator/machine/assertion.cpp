// What the report says of a kernel whose own assertion fails.
#include <cstdio>
#include <cstring>
#include <string>

#include "intrinsics_sync_copy.h"
#include "machine.h"

namespace {

// As its type asks, and in hexadecimal for %x and %p.
std::string written(const DavTold& told, char conversion) {
    char text[200];
    const bool hex = std::strchr("xXp", conversion) != nullptr;
    const auto bits = static_cast<unsigned long long>(told.whole);
    switch (told.kind) {
        case DavTold::NONE: return "?";
        case DavTold::TEXT: return std::string(told.text, strnlen(told.text, sizeof(text)));
        case DavTold::REAL: std::snprintf(text, sizeof(text), "%g", told.real); break;
        case DavTold::SIGNED:
        case DavTold::UNSIGNED:
            if (hex || told.kind == DavTold::UNSIGNED)
                std::snprintf(text, sizeof(text), hex ? "%llx" : "%llu", bits);
            else
                std::snprintf(text, sizeof(text), "%lld", static_cast<long long>(told.whole));
    }
    return text;
}

std::string filled(const char* format, const DavTold* values, uint32_t count) {
    constexpr size_t MOST = 600;
    std::string said;
    uint32_t next = 0;
    for (const char* c = format; *c != '\0' && said.size() < MOST; ++c) {
        if (*c == '%' && c[1] != '%') {
            c += 1 + std::strspn(c + 1, "-+ #.0123456789hlqjzt");
            if (*c == '\0') break;
            said += written(next < count ? values[next] : DavTold{}, *c);
            ++next;
            continue;
        }
        if (*c == '%') ++c;
        said += static_cast<unsigned char>(*c) < ' ' ? ' ' : *c;
    }
    said.erase(said.find_last_not_of(' ') + 1);
    return said;
}

}  // namespace

void dav_assertion(const char* condition, const char* format, const DavTold* values,
                   uint32_t count) {
    const std::string said = filled(format, values, count);
    const bool ended = !said.empty() && std::strchr(".!?", said.back()) != nullptr;
    dav::fail(dav::Outcome::LAUNCH_ERROR, __builtin_return_address(0), nullptr,
              "The kernel's own assertion `%.300s` fails%s%s%s", condition,
              said.empty() ? "" : ": ", said.c_str(), ended ? "" : ".");
}
