// Flags and barriers within a core, and rendezvous between cores.
#include "sync.h"

#include <algorithm>
#include <map>
#include <utility>

#include "constants.h"
#include "fiber.h"
#include "gm.h"
#include "hazard.h"
#include "intrinsics_sync_copy.h"
#include "machine.h"

namespace dav {
namespace {

void check_pipe(int pipe, const char* mnemonic, const void* site) {
    if (pipe < 0 || pipe >= PIPES || pipe == ALL)
        fail(Outcome::LAUNCH_ERROR, site, nullptr, "%s names pipe %d, which cannot hold a flag.",
             mnemonic, pipe);
}

Flag& flag_of(int from, int to, int event, const char* mnemonic, const void* site) {
    check_pipe(from, mnemonic, site);
    check_pipe(to, mnemonic, site);
    if (event < 0 || event >= EVENTS)
        fail(Outcome::LAUNCH_ERROR, site, nullptr,
             "%s uses event %d; a pair of pipes has events 0 to %d.", mnemonic, event, EVENTS - 1);
    return current->flags[(from * PIPES + to) * EVENTS + event];
}

// What pipe `pipe` has completed when it reaches this point, its own instructions included.
Clock reached(int pipe) {
    Clock clock = current->clocks[pipe];
    for (int other = 0; other < PIPES; ++other)
        clock.seen[other] = std::max(clock.seen[other], current->clocks[S].seen[other]);
    clock.seen[pipe] = std::max(clock.seen[pipe], current->last[pipe]);
    return clock;
}

void join(Clock& into, const Clock& other) {
    for (int pipe = 0; pipe < PIPES; ++pipe)
        into.seen[pipe] = std::max(into.seen[pipe], other.seen[pipe]);
}

void set_event(int from, int to, int event, const void* site) {
    Flag& flag = flag_of(from, to, event, "set_flag", site);
    if (flag.size() == FLAG_MOST)
        fail(Outcome::LAUNCH_ERROR, site,
             launch().image + current->records[flag.back().record].site,
             "unbalanced flags: set_flag(%s, %s, %d) on core %d for the %zuth time without a "
             "wait_flag.",
             pipe_name(from), pipe_name(to), event, current->index, FLAG_MOST + 1);
    Record record;
    record.kind = Kind::SET_FLAG;
    record.pipe = static_cast<uint8_t>(from);
    record.peer = static_cast<uint8_t>(to);
    record.event = static_cast<uint8_t>(event);
    record.name = mnemonic_number("set_flag");
    const Clock clock = reached(from);
    flag.push_back({clock, append(record, site)});
}

void wait_event(int from, int to, int event, const void* site) {
    Flag& flag = flag_of(from, to, event, "wait_flag", site);
    if (flag.empty())
        fail(Outcome::LAUNCH_ERROR, site, nullptr,
             "deadlock: wait_flag(%s, %s, %d) on core %d can never be satisfied, because nothing "
             "before it set the flag.",
             pipe_name(from), pipe_name(to), event, current->index);
    Record record;
    record.kind = Kind::WAIT_FLAG;
    record.pipe = static_cast<uint8_t>(to);
    record.peer = static_cast<uint8_t>(from);
    record.event = static_cast<uint8_t>(event);
    record.name = mnemonic_number("wait_flag");
    append(record, site);
    join(current->clocks[to], flag.front().clock);
    flag.pop_front();
}

void barrier_all(const void* site, const char* mnemonic) {
    Core& core = *current;
    Record record;
    record.kind = Kind::BARRIER_ALL;
    record.pipe = S;
    record.name = mnemonic_number(mnemonic);
    append(record, site);
    for (int pipe = 0; pipe < PIPES; ++pipe)
        for (int other = 0; other < PIPES; ++other)
            core.clocks[pipe].seen[other] =
                std::max(core.clocks[pipe].seen[other], core.last[other]);
}

void barrier(int pipe, const void* site) {
    if (pipe == ALL) return barrier_all(site, "pipe_barrier");
    if (pipe < 0 || pipe >= PIPES)
        fail(Outcome::LAUNCH_ERROR, site, nullptr, "pipe_barrier names pipe %d.", pipe);
    Record record;
    record.kind = Kind::BARRIER;
    record.pipe = static_cast<uint8_t>(pipe);
    record.peer = record.pipe;
    record.name = mnemonic_number("pipe_barrier");
    append(record, site);
    current->clocks[pipe].seen[pipe] =
        std::max(current->clocks[pipe].seen[pipe], current->last[pipe]);
}

// A rendezvous of all cores: who has come, with which release.
struct Rendezvous {
    std::vector<Release> releases;
    uint32_t number = 0;
};
// By (kind, flag, occurrence): occurrence counts each core's own calls.
std::map<std::pair<int64_t, uint32_t>, Rendezvous> rendezvous;
std::map<std::pair<int, int64_t>, uint32_t> arrivals;  // by (core, flag): how many sets
std::map<std::pair<int, int64_t>, uint32_t> waits;     // by (core, flag): how many waits

struct Gathering {
    Rendezvous* point;
};
bool all_here(void* raw) {
    const auto* gathering = static_cast<Gathering*>(raw);
    return gathering->point->releases.size() == launch().cores.size();
}

constexpr int64_t SYNC_ALL_FLAG = -1;

Rendezvous& arrive(int64_t flag) {
    const uint32_t turn = arrivals[{current->index, flag}]++;
    Rendezvous& point = rendezvous[{flag, turn}];
    if (point.releases.empty()) point.number = launch().sync_alls++;
    point.releases.push_back({current->index, release_segment()});
    return point;
}

void require_resident(const void* site) {
    if (launch().block_dim > launch().vector_cores)
        fail(Outcome::LAUNCH_ERROR, site, nullptr,
             "deadlock: SyncAll with %d blocks on %d vector cores; all blocks must run at once.",
             launch().block_dim, launch().vector_cores);
}

void sync_record(Kind kind, uint32_t number, const char* mnemonic, const void* site) {
    Record record;
    record.kind = kind;
    record.pipe = S;
    record.argument = number;
    record.name = mnemonic_number(mnemonic);
    append(record, site);
}

// One-to-one signals (IBSet, IBWait).
struct Signal {
    uint32_t number = 0;
    Release release{0, 0};
    bool sent = false;
};
std::map<std::pair<int, int>, Signal> signals;
bool signal_sent(void* raw) { return static_cast<Signal*>(raw)->sent; }

}  // namespace

void check_flags_at_end() {
    for (const auto& [key, flag] : current->flags) {
        if (flag.empty()) continue;
        const int from = key / EVENTS / PIPES;
        const int to = key / EVENTS % PIPES;
        fail(Outcome::LAUNCH_ERROR, launch().image + current->records[flag.front().record].site,
             nullptr, "unbalanced flags: set_flag(%s, %s, %d) on core %d has no wait_flag.",
             pipe_name(from), pipe_name(to), key % EVENTS, current->index);
    }
}

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

void dav_sync_all() {
    const void* site = __builtin_return_address(0);
    require_resident(site);
    barrier_all(site, "sync_all");
    Rendezvous& point = arrive(SYNC_ALL_FLAG);
    Gathering gathering{&point};
    sync_record(Kind::SYNC_ALL, point.number, "sync_all", site);
    wait_until(all_here, &gathering, "SyncAll", site);
    order_after(point.releases);
}

void ffts_cross_core_sync(pipe_t pipe, uint64_t config) {
    const void* site = __builtin_return_address(0);
    const uint64_t mode = (config >> 4) & 3;
    if (mode != 0)
        fail(Outcome::LAUNCH_ERROR, site, nullptr,
             "ffts_cross_core_sync in mode %llu synchronises cube with vector cores, which this "
             "launch has not.",
             static_cast<unsigned long long>(mode));
    require_resident(site);
    barrier(pipe, site);
    // The signal leaves when this pipe has come so far; here when the scalar unit sends it.
    barrier_all(site, "cross_core_set");
    arrive(static_cast<int64_t>((config >> 8) & 0xf));
}

void wait_flag_dev(int64_t flag) {
    const void* site = __builtin_return_address(0);
    const uint32_t turn = waits[{current->index, flag}]++;
    Rendezvous& point = rendezvous[{flag, turn}];
    Gathering gathering{&point};
    wait_until(all_here, &gathering, "wait_flag_dev", site);
    sync_record(Kind::SYNC_ALL, point.number, "cross_core_wait", site);
    order_after(point.releases);
}

void set_ffts_base_addr(uint64_t) {}

void dav_core_set(int32_t block, int32_t event) {
    const void* site = __builtin_return_address(0);
    barrier_all(site, "core_set");
    Signal& signal = signals[{block, event}];
    if (!signal.sent) signal.number = static_cast<uint32_t>(signals.size());
    signal.release = {current->index, release_segment()};
    signal.sent = true;
    sync_record(Kind::CORE_SET, signal.number, "core_set", site);
}

void dav_core_wait(int32_t block, int32_t event) {
    const void* site = __builtin_return_address(0);
    Signal& signal = signals[{block, event}];
    wait_until(signal_sent, &signal, "IBWait", site);
    sync_record(Kind::CORE_WAIT, signal.number, "core_wait", site);
    order_after({signal.release});
}

int64_t get_block_idx() { return current->index; }
int64_t get_block_num() { return launch().block_dim; }
int64_t get_subblockid() { return 0; }
int64_t get_subblockdim() { return 1; }
int64_t get_coreid() { return current->index % launch().vector_cores; }

__ubuf__ uint8_t* dav_ub_base() { return current->ub; }

void dav_ub_note(uint32_t offset, uint32_t bytes, const char* name) {
    Core& core = *current;
    const uint64_t end = uint64_t(offset) + bytes;
    core.ub_peak = std::max(core.ub_peak, static_cast<uint32_t>(std::min<uint64_t>(end, 1u << 30)));
    if (end > UB_BYTES)
        warn(__builtin_return_address(0), "ub_request",
             "Buffer %s asks for %u bytes of UB from 0x%x on, beyond the %u there are.",
             name ? name : "", bytes, offset, UB_BYTES);
    constexpr size_t MOST = 256;
    if (core.buffers.size() < MOST) core.buffers.push_back({offset, bytes, name ? name : ""});
}

void dav_fail(const char* message) {
    fail(Outcome::LAUNCH_ERROR, __builtin_return_address(0), nullptr, "%s", message);
}

void dav_warn(const char* message) {
    warn(__builtin_return_address(0), "header", "%s", message);
}
