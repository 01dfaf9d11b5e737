// Collects the log of host code for the answer.
#include "detail/log.h"

#include "runtime/runtime.h"

namespace {
// A tiling function that logs in a loop must not fill the memory.
constexpr size_t kMaxLines = 400;
constexpr size_t kMaxLine = 2000;

void add(int level, const char* format, va_list list) {
    if (host::log_lines().size() >= kMaxLines || format == nullptr) return;
    char text[kMaxLine];
    std::vsnprintf(text, sizeof text, format, list);
    const char* label = level == DLOG_ERROR   ? "error: "
                        : level == DLOG_WARN  ? "warning: "
                        : level == DLOG_EVENT ? "event: "
                        : level == DLOG_DEBUG ? "debug: "
                                              : "info: ";
    host::log_lines().push_back(label + std::string(text));
}
}  // namespace

std::vector<std::string>& host::log_lines() {
    static std::vector<std::string> lines;
    return lines;
}

extern "C" {
int AlogCheckDebugLevel(uint32_t, int level) { return level >= DLOG_WARN ? 1 : 0; }
int CheckLogLevel(int, int level) { return level >= DLOG_WARN ? 1 : 0; }
void AlogRecord(uint32_t, uint32_t, int level, const char* format, ...) {
    va_list list;
    va_start(list, format);
    add(level, format, list);
    va_end(list);
}
void DlogRecord(int, int level, const char* format, ...) {
    va_list list;
    va_start(list, format);
    add(level, format, list);
    va_end(list);
}
}

void ascendopt_log(int level, const char* format, ...) {
    va_list list;
    va_start(list, format);
    add(level, format, list);
    va_end(list);
}

void ascendopt_report(const char*, const char* format, ...) {
    va_list list;
    va_start(list, format);
    add(DLOG_ERROR, format, list);
    va_end(list);
}
