// Answers a file of requests in many orders and processes, whatever the operator's code does.
//
// Each step's answer is appended to the file of answers as "ROUND<tab>STEP<tab>JSON". A step that
// ends in a signal is answered with it, and the program begins anew behind it; so it does for each
// round, which gives the operator's code another layout of its addresses, other bytes in what the
// heap hands out, and other surroundings.
#include <array>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <fcntl.h>
#include <sys/time.h>
#include <unistd.h>

#include "runtime/runtime.h"

namespace host {
namespace {
// Of one step; real tilings need microseconds.
constexpr suseconds_t kStepMicroseconds = 100000;
constexpr std::array kCaught = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGPROF};

// Requests are asked twice in a row for inference and tiling.
constexpr size_t kSteps = 4;

// The program's words: those of the system lie on the stack, within reach of a wild store.
constexpr size_t kWords = 8;
char g_words[kWords][4096];
char* g_argv[kWords + 1] = {};
int g_answers = -1;
bool g_alike = false;
char g_round[24], g_step[24];

void grant(suseconds_t microseconds) {
    const itimerval granted{{0, 0}, {0, microseconds}};
    setitimer(ITIMER_PROF, &granted, nullptr);
}

void begin_anew(size_t round, size_t step) {
    // The timer would go on in the next program, which reads its requests before it can answer.
    grant(0);
    static char perturbed[32];
    std::snprintf(g_round, sizeof g_round, "%zu", round);
    std::snprintf(g_step, sizeof g_step, "%zu", step);
    std::snprintf(perturbed, sizeof perturbed, "MALLOC_PERTURB_=%zu", g_alike ? 1 : round % 255);
    char* environment[] = {perturbed, nullptr};
    execve(g_argv[0], g_argv, environment);
    _exit(4);
}

void write_answer(const char* text, size_t size) {
    for (size_t done = 0; done < size;) {
        const ssize_t written = write(g_answers, text + done, size - done);
        if (written <= 0) _exit(3);
        done += static_cast<size_t>(written);
    }
}

void on_signal(int signal) {
    char text[96];
    const int size =
        std::snprintf(text, sizeof text, "%s\t%s\t{\"signal\":%d}\n", g_round, g_step, signal);
    write_answer(text, static_cast<size_t>(size));
    const size_t step = std::strtoul(g_step, nullptr, 10);
    // What loops once is not given as long again for the same request.
    const size_t next = signal == SIGPROF ? (step / kSteps + 1) * kSteps : step + 1;
    begin_anew(std::strtoul(g_round, nullptr, 10), next);
}

void catch_signals() {
    static char stack[1 << 16];
    const stack_t other{stack, 0, sizeof stack};
    sigaltstack(&other, nullptr);
    struct sigaction action{};
    action.sa_handler = on_signal;
    action.sa_flags =
        SA_ONSTACK | SA_NODEFER;  // a blocked signal would stay so in the next program
    for (const int signal : kCaught) sigaction(signal, &action, nullptr);
}

void answer_step(const Request& request, size_t step) {
    std::snprintf(g_step, sizeof g_step, "%zu", step);
    grant(kStepMicroseconds);
    log_lines().clear();
    // What was compared is long, and told once.
    const bool told = step % kSteps == 1;
    const std::string found = step % 2 == 0 ? infer(request) : tile_in_short(request, told);
    const std::string line = std::string(g_round) + "\t" + g_step + "\t" + found;
    write_answer(line.data(), line.size());
}
}  // namespace

// argv: program, "survey", REQUESTS, ANSWERS, ROUND, OFTEN, STEP, ALIKE. Rounds count down to 1.
// All requests are asked in the last two, forwards and backwards, in the others the first OFTEN.
// ALIKE: 1 where the heap holds the same bytes in each round but the first.
int survey(char** argv) {
    for (size_t i = 0; i < kWords; ++i) {
        std::snprintf(g_words[i], sizeof g_words[i], "%s", argv[i]);
        g_argv[i] = g_words[i];
    }
    g_answers = open(argv[3], O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    const size_t round = std::strtoul(argv[4], nullptr, 10);
    const size_t most = round > 2 ? std::strtoul(argv[5], nullptr, 10) : SIZE_MAX;
    const std::vector<Request> requests = read_requests(argv[2], most);
    std::snprintf(g_round, sizeof g_round, "%zu", round);
    surroundings() = static_cast<unsigned>(round - 1);
    size_t step = std::strtoul(argv[6], nullptr, 10);
    g_argv[4] = g_round;
    g_alike = *argv[7] == '1';
    g_argv[6] = g_step;
    catch_signals();
    for (; step < requests.size() * kSteps; ++step) {
        const size_t at = step / kSteps;
        answer_step(requests[round % 2 == 0 ? at : requests.size() - 1 - at], step);
    }
    if (round > 1) begin_anew(round - 1, 0);
    return 0;
}
}  // namespace host
