// Logging and error reports of host code. Lines go into the answer's log, not to the terminal.
#pragma once

#include <cinttypes>
#include <cstdarg>
#include <cstdio>

// The toolkit's lines name their thread; what asks for it comes with its header.
#include <sys/syscall.h>
#include <unistd.h>

#include "detail/types.h"

#ifndef DLOG_DEBUG
#define DLOG_DEBUG 0x0
#define DLOG_INFO 0x1
#define DLOG_WARN 0x2
#define DLOG_ERROR 0x3
#define DLOG_NULL 0x4
#define DLOG_TRACE 0x5
#define DLOG_OPLOG 0x6
#define DLOG_EVENT 0x10
#define DLOG_TYPE_DEBUG 0x0
#define DLOG_TYPE_RUN 0x1
#define RUN_LOG_MASK 0x01000000
#define DEBUG_LOG_MASK 0x00010000
#define MSG_LENGTH 1024
#endif

enum AscendOptLogModule {
    SLOG = 0,
    IDEDD = 1,
    FE = 8,
    GE = 45,
    OP = 63,
    TEFUSION = 37,
    ASCENDCKERNEL = 70
};

extern "C" {
int AlogCheckDebugLevel(uint32_t module, int level);
int CheckLogLevel(int module, int level);
void AlogRecord(uint32_t module, uint32_t type, int level, const char* format, ...);
void DlogRecord(int module, int level, const char* format, ...);
}

// One line of the answer's log; levels as DLOG_*.
void ascendopt_log(int level, const char* format, ...) __attribute__((format(printf, 2, 3)));
void ascendopt_report(const char* code, const char* format, ...);

#ifndef REPORT_INNER_ERR_MSG
#define REPORT_INNER_ERR_MSG(code, ...) ascendopt_report(code, __VA_ARGS__)
#define REPORT_INNER_ERROR(code, ...) ascendopt_report(code, __VA_ARGS__)
#define REPORT_CALL_ERROR(code, ...) ascendopt_report(code, __VA_ARGS__)
#define REPORT_USER_ERR_MSG(code, ...) ascendopt_report(code, "%s", "user error")
#define REPORT_INPUT_ERROR(code, ...) ascendopt_report(code, "%s", "input error")
#define REPORT_ENV_ERROR(code, ...) ascendopt_report(code, "%s", "environment error")
#define REPORT_PREDEFINED_ERR_MSG(code, ...) ascendopt_report(code, "%s", "predefined error")
#endif

// Lines of host code that comes with the kernel's headers.
#ifndef ASC_CPU_LOG_ERROR
#define ASC_CPU_LOG_ERROR(...) ascendopt_log(DLOG_ERROR, __VA_ARGS__)
#define ASC_CPU_LOG_WARNING(...) ascendopt_log(DLOG_WARN, __VA_ARGS__)
#define ASC_CPU_LOG_INFO(...) ascendopt_log(DLOG_INFO, __VA_ARGS__)
#define ASC_CPU_LOG_DEBUG(...) ascendopt_log(DLOG_DEBUG, __VA_ARGS__)
#endif

// What the toolkit's own log lines end in: who logs, and a level's line.
#ifndef OpLogSub
#define OpLogSub(module, level, op, ...) ascendopt_log(level, ##__VA_ARGS__)
#endif
#ifndef DlogSub
#define DlogSub(module, submodule, level, ...) ascendopt_log(level, ##__VA_ARGS__)
#endif
