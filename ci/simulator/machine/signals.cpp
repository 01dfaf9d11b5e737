// Rendezvous of cores, cross-core flags, and what one core hands to another.
#include "signals.h"

#include <algorithm>
#include <deque>
#include <map>
#include <memory>
#include <set>
#include <tuple>
#include <utility>

#include "fiber.h"
#include "flags.h"
#include "conflicts.h"
#include "intrinsics_sync_copy.h"
#include "machine.h"

namespace dav {
namespace {

// A signal on its way: who has sent it, with which release.
struct Signal {
    uint32_t number = 0;    // in Launch::points, or of a meeting
    uint32_t expected = 1;  // senders
    std::vector<Release> releases;
    const void* site = nullptr;  // of its last sender
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

// From one core to another (IBSet, IBWait, blocks that take turns): one at a time; a wait takes it
// away.
struct Handover {
    std::deque<Signal> sent;
    size_t taken = 0;
};

}  // namespace

// What is on its way between the cores of a launch.
struct Signals {
    std::map<Group, Signal> of_groups;
    std::map<std::tuple<int, int, int>, uint32_t> turns;             // by core, mode and flag
    std::map<std::pair<int, int64_t>, std::deque<Signal*>> pending;  // by (receiving core, flag)
    std::set<std::pair<int, int64_t>> waited;  // which of them the core has ever waited for
    std::set<std::pair<int, int64_t>> unread;  // which have overflown without that
    std::map<std::pair<int, int>, Handover> handovers;                     // by (block, event)
    std::map<std::tuple<const void*, int, uint32_t>, Signal> of_barriers;  // by place, kind, round
};

namespace {

Signals& signals() {
    if (!launch().signals) launch().signals = std::make_shared<Signals>();
    return *launch().signals;
}

// Modes beside those of cross-core flags.
constexpr int MEETING = 100;
constexpr int SOFT_MEETING = 101;

bool in_kind(const Core& core, bool cube, int block) {
    return core.cube == cube && (block == NO_BLOCK || core.block == block);
}

// The running core joins a signal of the cores for which `sends` holds; answers it.
template <typename Sends>
Signal& join_signal(int mode, bool cube, int block, int flag, Sends sends, bool& first) {
    const uint32_t turn = signals().turns[{current->index, mode, flag}]++;
    Signal& signal = signals().of_groups[{mode, cube, block, flag, turn}];
    first = signal.releases.empty();
    if (first)
        signal.expected =
            static_cast<uint32_t>(std::count_if(launch().cores.begin(), launch().cores.end(),
                                                [&](const Core* core) { return sends(*core); }));
    return signal;
}

// All blocks are about to meet at `what`; they must run at the same time.
void require_resident(const char* what, const void* site) {
    if (launch().checked && launch().block_dim > 1) warn(site, "meets", what, "%s", what);
    if (launch().block_dim > launch().resident_blocks)
        fail(Outcome::LAUNCH_ERROR, site, nullptr,
             "deadlock: %s with %d blocks on %d %s cores; all blocks must run at once.", what,
             launch().block_dim, launch().resident_blocks,
             launch().cubes_per_block > 0 ? "cube" : "vector");
}

void sync_record(Kind kind, uint32_t number, const char* mnemonic, const void* site) {
    append(Record::numbered(kind, S, number, mnemonic), site);
}

// Waits for all cores for which `meets` holds, with all their pipes drained.
template <typename Meets> void meet(int mode, bool cube, int flag, Meets meets, const void* site) {
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

// The running core gives a signal with all that `pipe` has come to.
void release(Signal& signal, int pipe) {
    Clock clock = reached(pipe);
    // What a pipe waited for is complete with its latest record; two steps lead over three pipes.
    for (int step = 0; step < 2; ++step)
        for (int other = 0; other < PIPES; ++other)
            if (clock.seen[other] != 0 && clock.seen[other] == current->order.last[other])
                join(clock, current->order.clocks[other]);
    signal.releases.push_back({current->index, release_segment(&clock)});
}

// The signal of a barrier between groups of cores, whoever comes to it first.
Signal& barrier_signal(const void* place, int kind, uint32_t round, uint32_t expected,
                       const void* site) {
    require_resident("GroupBarrier", site);
    const auto [found, first] = signals().of_barriers.try_emplace({place, kind, round});
    Signal& signal = found->second;
    if (first) {
        signal.expected = expected;
        signal.number = make_point(expected, false);
    }
    if (signal.expected != expected)
        fail(Outcome::LAUNCH_ERROR, site, nullptr,
             "The cores of a GroupBarrier name %u and %u cores of one group.", signal.expected,
             expected);
    return signal;
}

bool handover_given(void* raw) {
    const auto* handover = static_cast<Handover*>(raw);
    return handover->taken < handover->sent.size();
}
bool handover_free(void* raw) { return !handover_given(raw); }

}  // namespace

uint32_t make_point(uint32_t expected, bool of_all) {
    launch().points.push_back({expected, of_all});
    return static_cast<uint32_t>(launch().points.size() - 1);
}

void send_signal(int pipe, uint32_t number, const char* mnemonic, const void* site) {
    append(Record::numbered(Kind::CORE_SET, pipe, number, mnemonic), site);
}

// A flag that one of a group of cores takes and another never looks at is how libraries answer one
// of two vector cores; what the core itself waits for, or nobody, is a set too many.
void check_signals_at_end() {
    if (!launch().signals) return;
    for (const auto& [key, queue] : signals().pending) {
        const auto& [index, flag] = key;
        const Core& core = *launch().cores[index];
        const auto taken = [&](const std::pair<int, int64_t>& one) {
            const Core& other = *launch().cores[one.first];
            return one.second == flag && other.cube == core.cube && other.block == core.block;
        };
        const auto& waited = signals().waited;
        const bool own = waited.count(key) != 0;
        if (queue.empty() || (!own && std::any_of(waited.begin(), waited.end(), taken))) continue;
        warn(queue.front()->site, "state", "flag",
             "Cross-core flag %d of core %d ends set, with %s; the next kernel that waits for it "
             "would not wait.",
             static_cast<int>(flag), index, own ? "fewer waits than sets" : "no wait for it");
    }
}

void receive_signal(uint32_t number, const char* mnemonic, const void* site) {
    sync_record(Kind::CORE_WAIT, number, mnemonic, site);
}

}  // namespace dav

using namespace dav;

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

namespace {
// The cores of a block that get a flag.
struct Receivers {
    bool cube;
    int block;
    int flag;
};
// Whether none of them has to take a signal before it can get another.
bool have_room(void* raw) {
    const auto& to = *static_cast<Receivers*>(raw);
    for (const Core* core : launch().cores) {
        const std::pair<int, int64_t> key{core->index, to.flag};
        if (in_kind(*core, to.cube, to.block) && signals().pending[key].size() == FLAG_MOST &&
            (signals().waited.count(key) || !signals().unread.count(key)))
            return false;
    }
    return true;
}
}  // namespace

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
    if (mode == 0) require_resident("CrossCoreSetFlag of mode 0", site);
    const int block = mode == 0 ? NO_BLOCK : current->block;
    const bool receivers_cube = mode == 2 ? !cube : cube;
    // Cores are executed one after another: this one may be ahead of what the clock would let it
    // be.
    Receivers receivers{receivers_cube, block, flag};
    if (mode == 2 && !have_room(&receivers)) give_turn(have_room, &receivers, site);
    bool first = false;
    Signal& signal = join_signal(
        mode, cube, block, flag, [&](const Core& core) { return in_kind(core, cube, block); },
        first);
    if (first) {
        signal.number = make_point(signal.expected, mode == 0);
        for (const Core* core : launch().cores)
            if (in_kind(*core, receivers_cube, block)) {
                auto& queue = signals().pending[{core->index, flag}];
                if (queue.size() == FLAG_MOST && mode == 2 &&
                    !signals().waited.count({core->index, flag})) {
                    // The counter has 4 bits. A cube core that answers one of its vector cores sets
                    // the other's flag along, and that one never looks at it.
                    queue.clear();
                    signals().unread.insert({core->index, flag});
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
    release(signal, pipe);
    signal.site = site;
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
    FlagWait wait{&signals().pending[{current->index, flag}]};
    signals().waited.insert({current->index, flag});
    wait_until(flag_given, &wait, "a cross-core flag", site);
    Signal* signal = wait.queue->front();
    wait.queue->pop_front();
    receive_signal(signal->number, "cross_core_wait", site);
    order_after(signal->releases);
}

void set_ffts_base_addr(uint64_t) {}

void dav_core_set(int32_t block, int32_t event) {
    const void* site = __builtin_return_address(0);
    Handover& handover = signals().handovers[{block, event}];
    wait_until(handover_free, &handover,
               event == BLOCK_TURN ? "NotifyNextBlock, whose last one no WaitPreBlock has taken yet"
                                   : "IBSet, whose event nobody has taken yet",
               site);
    barrier_all(site, "core_set");
    Signal signal;
    signal.number = make_point(1, false);
    signal.releases.push_back({current->index, release_segment()});
    handover.sent.push_back(signal);
    send_signal(S, signal.number, "core_set", site);
}

void dav_core_wait(int32_t block, int32_t event) {
    const void* site = __builtin_return_address(0);
    Handover& handover = signals().handovers[{block, event}];
    wait_until(handover_given, &handover, event == BLOCK_TURN ? "WaitPreBlock" : "IBWait", site);
    const Signal& signal = handover.sent[handover.taken++];
    receive_signal(signal.number, "core_wait", site);
    order_after(signal.releases);
}

void dav_group_set(pipe_t pipe, const void* place, int kind, uint32_t round, uint32_t expected) {
    const void* site = __builtin_return_address(0);
    Signal& signal = barrier_signal(place, kind, round, expected, site);
    if (signal.given())
        fail(Outcome::LAUNCH_ERROR, site, nullptr,
             "More than the %u cores of a GroupBarrier's group come to it in one round.", expected);
    release(signal, pipe);
    send_signal(pipe, signal.number, "group_set", site);
}

void dav_group_wait(const void* place, int kind, uint32_t round, uint32_t expected) {
    const void* site = __builtin_return_address(0);
    Signal& signal = barrier_signal(place, kind, round, expected, site);
    wait_until(signal_given, &signal, "GroupBarrier", site);
    receive_signal(signal.number, "group_wait", site);
    order_after(signal.releases);
}
