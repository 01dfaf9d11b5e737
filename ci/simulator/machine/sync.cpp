// Flags and barriers within a core, and rendezvous between cores.
#include "sync.h"

#include <algorithm>
#include <deque>
#include <map>
#include <set>
#include <tuple>
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
        fail(Outcome::LAUNCH_ERROR, site, site_address(current->records[flag.back().record].site),
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

// A signal on its way: who has sent it, with which release.
struct Signal {
    uint32_t number = 0;    // in Launch::points, or of a meeting
    uint32_t expected = 1;  // senders
    std::vector<Release> releases;
    bool given() const { return releases.size() == expected; }
};
bool signal_given(void* raw) { return static_cast<Signal*>(raw)->given(); }

constexpr int NO_BLOCK = -1;  // of all blocks
// Which group of cores sends: mode or name, of cube cores?, block.
struct Group {
    int mode;
    bool cube;
    int block;
    int flag;
    uint32_t turn;  // counts each core's own calls
    bool operator<(const Group& other) const {
        return std::tie(mode, cube, block, flag, turn) <
               std::tie(other.mode, other.cube, other.block, other.flag, other.turn);
    }
};
std::map<Group, Signal> signals;
std::map<std::pair<int, std::pair<int, int>>, uint32_t> turns;   // by core, mode and flag
std::map<std::pair<int, int64_t>, std::deque<Signal*>> pending;  // by (receiving core, flag)
std::set<std::pair<int, int64_t>> waited;  // which of them the core has ever waited for

// Modes beside those of cross-core flags.
constexpr int MEETING = 100;
constexpr int SOFT_MEETING = 101;

bool in_kind(const Core& core, bool cube, int block) {
    return core.cube == cube && (block == NO_BLOCK || core.block == block);
}

// The running core joins a signal of the cores for which `sends` holds; answers it.
template <typename Sends>
Signal& join_signal(int mode, bool cube, int block, int flag, Sends sends, bool& first) {
    const uint32_t turn = turns[{current->index, {mode, flag}}]++;
    Signal& signal = signals[{mode, cube, block, flag, turn}];
    first = signal.releases.empty();
    if (first)
        signal.expected =
            static_cast<uint32_t>(std::count_if(launch().cores.begin(), launch().cores.end(),
                                                [&](const Core* core) { return sends(*core); }));
    return signal;
}

void require_resident(const char* what, const void* site) {
    if (launch().block_dim > launch().resident_blocks)
        fail(Outcome::LAUNCH_ERROR, site, nullptr,
             "deadlock: %s with %d blocks on %d %s cores; all blocks must run at once.", what,
             launch().block_dim, launch().resident_blocks,
             launch().cubes_per_block > 0 ? "cube" : "vector");
}

void sync_record(Kind kind, uint32_t number, const char* mnemonic, const void* site) {
    Record record;
    record.kind = kind;
    record.pipe = S;
    record.argument = number;
    record.name = mnemonic_number(mnemonic);
    append(record, site);
}

// Waits for all cores for which `meets` holds, with all their pipes drained.
template <typename Meets>
void meet(int mode, bool cube, int flag, Meets meets, const void* site) {
    require_resident("SyncAll", site);
    barrier_all(site, "sync_all");
    bool first = false;
    Signal& signal = join_signal(mode, cube, NO_BLOCK, flag, meets, first);
    if (first) {
        signal.number = static_cast<uint32_t>(launch().sync_alls.size());
        launch().sync_alls.push_back(signal.expected);
    }
    signal.releases.push_back({current->index, release_segment()});
    sync_record(Kind::SYNC_ALL, signal.number, "sync_all", site);
    wait_until(signal_given, &signal, "SyncAll", site);
    order_after(signal.releases);
}

// One-to-one events (IBSet, IBWait): one at a time; a wait takes it away.
struct Event {
    std::deque<Signal> sent;
    size_t taken = 0;
};
std::map<std::pair<int, int>, Event> events;
bool event_sent(void* raw) {
    const auto* event = static_cast<Event*>(raw);
    return event->taken < event->sent.size();
}
bool event_free(void* raw) { return !event_sent(raw); }

}  // namespace

uint32_t make_point(uint32_t expected, bool of_all) {
    launch().points.push_back({expected, of_all});
    return static_cast<uint32_t>(launch().points.size() - 1);
}

void send_signal(int pipe, uint32_t number, const char* mnemonic, const void* site) {
    Record record;
    record.kind = Kind::CORE_SET;
    record.pipe = static_cast<uint8_t>(pipe);
    record.argument = number;
    record.name = mnemonic_number(mnemonic);
    append(record, site);
}

void receive_signal(uint32_t number, const char* mnemonic, const void* site) {
    sync_record(Kind::CORE_WAIT, number, mnemonic, site);
}

void check_flags_at_end() {
    for (const auto& [key, flag] : current->flags) {
        if (flag.empty()) continue;
        const int from = key / EVENTS / PIPES;
        const int to = key / EVENTS % PIPES;
        fail(Outcome::LAUNCH_ERROR, site_address(current->records[flag.front().record].site),
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
    const bool cube = current->cube;
    meet(
        MEETING, cube, 0, [&](const Core& core) { return core.cube == cube; },
        __builtin_return_address(0));
}

void dav_sync_all_kinds() {
    meet(MEETING, false, 1, [](const Core&) { return true; }, __builtin_return_address(0));
}

void dav_sync_first(int32_t cores) {
    const bool cube = current->cube;
    int number = 0;
    for (const Core* core : launch().cores) {
        if (core == current) break;
        number += core->cube == cube;
    }
    if (number >= cores) return;
    meet(
        SOFT_MEETING, cube, cores,
        [&](const Core& core) {
            int before = 0;
            for (const Core* other : launch().cores) {
                if (other == &core) break;
                before += other->cube == cube;
            }
            return core.cube == cube && before < cores;
        },
        __builtin_return_address(0));
}

void ffts_cross_core_sync(pipe_t pipe, uint64_t config) {
    const void* site = __builtin_return_address(0);
    check_pipe(pipe, "ffts_cross_core_sync", site);
    const int mode = static_cast<int>((config >> 4) & 3);
    const int flag = static_cast<int>((config >> 8) & 0xf);
    const bool cube = current->cube;
    if (mode == 3 || (mode == 1 && cube))
        fail(Outcome::LAUNCH_ERROR, site, nullptr,
             "ffts_cross_core_sync in mode %d: a %s core has no such group of cores.", mode,
             cube ? "cube" : "vector");
    if (mode == 0) require_resident("ffts_cross_core_sync in mode 0", site);
    const int block = mode == 0 ? NO_BLOCK : current->block;
    const bool receivers_cube = mode == 2 ? !cube : cube;
    bool first = false;
    Signal& signal = join_signal(
        mode, cube, block, flag, [&](const Core& core) { return in_kind(core, cube, block); },
        first);
    if (first) {
        signal.number = make_point(signal.expected, mode == 0);
        for (const Core* core : launch().cores)
            if (in_kind(*core, receivers_cube, block)) {
                auto& queue = pending[{core->index, flag}];
                if (queue.size() == FLAG_MOST && mode == 2 && !waited.count({core->index, flag})) {
                    // The counter has 4 bits. A cube core that answers one of its vector cores sets
                    // the other's flag along, and that one never looks at it.
                    queue.clear();
                    continue;
                }
                if (queue.size() == FLAG_MOST)
                    fail(Outcome::LAUNCH_ERROR, site, nullptr,
                         "unbalanced flags: cross-core flag %d is set for core %d for the %zuth "
                         "time without a wait.",
                         flag, core->index, FLAG_MOST + 1);
                queue.push_back(&signal);
            }
    }
    Clock clock = reached(pipe);
    // What a pipe waited for is complete with its latest record; two steps lead over three pipes.
    for (int step = 0; step < 2; ++step)
        for (int other = 0; other < PIPES; ++other)
            if (clock.seen[other] != 0 && clock.seen[other] == current->last[other])
                join(clock, current->clocks[other]);
    signal.releases.push_back({current->index, release_segment(&clock)});
    send_signal(pipe, signal.number, "cross_core_set", site);
}

namespace {
struct FlagWait {
    std::deque<Signal*>* queue;
};
bool flag_given(void* raw) {
    const auto* wait = static_cast<FlagWait*>(raw);
    return !wait->queue->empty() && wait->queue->front()->given();
}
}  // namespace

void wait_flag_dev(int64_t flag) {
    const void* site = __builtin_return_address(0);
    FlagWait wait{&pending[{current->index, flag}]};
    waited.insert({current->index, flag});
    wait_until(flag_given, &wait, "a cross-core flag", site);
    Signal* signal = wait.queue->front();
    wait.queue->pop_front();
    receive_signal(signal->number, "cross_core_wait", site);
    order_after(signal->releases);
}

void set_ffts_base_addr(uint64_t) {}

void dav_core_set(int32_t block, int32_t event) {
    const void* site = __builtin_return_address(0);
    Event& sent = events[{block, event}];
    wait_until(event_free, &sent, "IBSet, whose event nobody has taken yet", site);
    barrier_all(site, "core_set");
    Signal signal;
    signal.number = make_point(1, false);
    signal.releases.push_back({current->index, release_segment()});
    sent.sent.push_back(signal);
    send_signal(S, signal.number, "core_set", site);
}

void dav_core_wait(int32_t block, int32_t event) {
    const void* site = __builtin_return_address(0);
    Event& sent = events[{block, event}];
    wait_until(event_sent, &sent, "IBWait", site);
    const Signal& signal = sent.sent[sent.taken++];
    receive_signal(signal.number, "core_wait", site);
    order_after(signal.releases);
}

int64_t get_block_idx() { return current->block; }
int64_t get_block_num() { return launch().block_dim; }
int64_t get_subblockid() { return current->sub_block; }
int64_t get_subblockdim() { return std::max(1, launch().vectors_per_block); }
int64_t get_coreid() { return current->block % launch().resident_blocks; }

__ubuf__ uint8_t* dav_ub_base() { return current->ub; }
uint64_t dav_memory_base(int32_t memory) {
    return reinterpret_cast<uint64_t>(current->ub) + MEMORIES[memory].start;
}

void dav_ub_note(uint32_t offset, uint32_t bytes, const char* name) {
    Core& core = *current;
    if (core.cube) return;
    const uint64_t end = uint64_t(offset) + bytes;
    core.ub_peak = std::max(core.ub_peak, static_cast<uint32_t>(std::min<uint64_t>(end, 1u << 30)));
    if (end > UB_BYTES)
        warn(__builtin_return_address(0), "ub_request", name ? name : "",
             "Buffer %s asks for %u bytes of UB from 0x%x on, beyond the %u there are.",
             name ? name : "", bytes, offset, UB_BYTES);
    constexpr size_t MOST = 256;
    if (core.buffers.size() < MOST) core.buffers.push_back({offset, bytes, name ? name : ""});
}

#define DAV_WATCH(number)                                      \
    void set_data_exp_##number(uint64_t config) {              \
        current->watches[number] = config;                     \
        current->watching = current->watching || (config & 1); \
    }
DAV_WATCH(0)
DAV_WATCH(1)
DAV_WATCH(2)
DAV_WATCH(3)

void dav_fail(const char* message) {
    fail(Outcome::LAUNCH_ERROR, __builtin_return_address(0), nullptr, "%s", message);
}
