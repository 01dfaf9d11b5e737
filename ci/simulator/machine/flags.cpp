#include "flags.h"

#include <algorithm>

#include "intrinsics_sync_copy.h"

namespace dav {

void check_pipe(int pipe, const char* mnemonic, const void* site) {
    if (pipe < 0 || pipe >= PIPES || pipe == ALL)
        fail(Outcome::LAUNCH_ERROR, site, nullptr, "%s names pipe %d, which cannot hold a flag.",
             mnemonic, pipe);
}

Clock reached(int pipe) {
    Clock clock = current->order.clocks[pipe];
    for (int other = 0; other < PIPES; ++other)
        clock.seen[other] = std::max(clock.seen[other], current->order.clocks[S].seen[other]);
    clock.seen[pipe] = std::max(clock.seen[pipe], current->order.last[pipe]);
    return clock;
}

void join(Clock& into, const Clock& other) {
    for (int pipe = 0; pipe < PIPES; ++pipe)
        into.seen[pipe] = std::max(into.seen[pipe], other.seen[pipe]);
}

void barrier_all(const void* site, const char* mnemonic) {
    Core& core = *current;
    append(Record::of(Kind::BARRIER_ALL, S, mnemonic), site);
    Clock all;
    std::copy(core.order.last, core.order.last + PIPES, all.seen);
    for (Clock& clock : core.order.clocks) join(clock, all);
}

void check_flags_at_end() {
    for (const auto& [key, flag] : current->order.flags) {
        if (flag.empty()) continue;
        const int from = key / EVENTS / PIPES;
        const int to = key / EVENTS % PIPES;
        fail(Outcome::LAUNCH_ERROR, site_address(current->records[flag.front().record].site),
             nullptr, "unbalanced flags: set_flag(%s, %s, %d) on core %d has no wait_flag.",
             pipe_name(from), pipe_name(to), key % EVENTS, current->index);
    }
}

namespace {

// A kernel of vector cores alone has no use for the cube's pipes: nothing ever runs on them.
void check_present(int pipe, const char* mnemonic, const void* site) {
    if (launch().cubes_per_block > 0 || (pipe != M && pipe != MTE1 && pipe != FIX)) return;
    warn(site, "absent_pipe", pipe_name(pipe),
         "%s names %s, a pipe that vector cores do not have: it orders nothing.", mnemonic,
         pipe_name(pipe));
}

Flag& flag_of(int from, int to, int event, const char* mnemonic, const void* site) {
    check_pipe(from, mnemonic, site);
    check_pipe(to, mnemonic, site);
    check_present(from, mnemonic, site);
    check_present(to, mnemonic, site);
    if (event < 0 || event >= EVENTS)
        fail(Outcome::LAUNCH_ERROR, site, nullptr,
             "%s uses event %d; a pair of pipes has events 0 to %d.", mnemonic, event, EVENTS - 1);
    return current->order.flags[(from * PIPES + to) * EVENTS + event];
}

void set_event(int from, int to, int event, const void* site) {
    Flag& flag = flag_of(from, to, event, "set_flag", site);
    if (flag.size() == FLAG_MOST)
        fail(Outcome::LAUNCH_ERROR, site, site_address(current->records[flag.back().record].site),
             "unbalanced flags: set_flag(%s, %s, %d) on core %d for the %zuth time without a "
             "wait_flag.",
             pipe_name(from), pipe_name(to), event, current->index, FLAG_MOST + 1);
    if (!flag.empty())
        warn_pair(site, site_address(current->records[flag.back().record].site), "event_reused", "",
                  "set_flag(%s, %s, %d) sets an event that is set and that nothing has waited for; "
                  "the device gives no meaning to that, and a wait may take the earlier set.",
                  pipe_name(from), pipe_name(to), event);
    const Clock clock = reached(from);
    Record record = Record::between(Kind::SET_FLAG, from, to, "set_flag");
    record.event = static_cast<uint8_t>(event);
    flag.push_back({clock, append(record, site)});
}

void wait_event(int from, int to, int event, const void* site) {
    Flag& flag = flag_of(from, to, event, "wait_flag", site);
    if (flag.empty())
        fail(Outcome::LAUNCH_ERROR, site, nullptr,
             "deadlock: wait_flag(%s, %s, %d) on core %d can never be satisfied, because nothing "
             "before it set the flag.",
             pipe_name(from), pipe_name(to), event, current->index);
    Record record = Record::between(Kind::WAIT_FLAG, to, from, "wait_flag");
    record.event = static_cast<uint8_t>(event);
    append(record, site);
    join(current->order.clocks[to], flag.front().clock);
    flag.pop_front();
}

void barrier(int pipe, const void* site) {
    if (pipe == ALL) return barrier_all(site, "pipe_barrier");
    if (pipe < 0 || pipe >= PIPES)
        fail(Outcome::LAUNCH_ERROR, site, nullptr, "pipe_barrier names pipe %d.", pipe);
    check_present(pipe, "pipe_barrier", site);
    append(Record::between(Kind::BARRIER, pipe, pipe, "pipe_barrier"), site);
    current->order.clocks[pipe].seen[pipe] =
        std::max(current->order.clocks[pipe].seen[pipe], current->order.last[pipe]);
}

}  // namespace
}  // namespace dav

using namespace dav;

void set_flag(pipe_t from, pipe_t to, event_t event) {
    set_event(from, to, event, __builtin_return_address(0));
}
void set_flag(pipe_t from, pipe_t to, int event) {
    set_event(from, to, event, __builtin_return_address(0));
}
void wait_flag(pipe_t from, pipe_t to, event_t event) {
    wait_event(from, to, event, __builtin_return_address(0));
}
void wait_flag(pipe_t from, pipe_t to, int event) {
    wait_event(from, to, event, __builtin_return_address(0));
}
void pipe_barrier(pipe_t pipe) { barrier(pipe, __builtin_return_address(0)); }
