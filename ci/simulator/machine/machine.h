// The state of a launch: its cores (one a block) and what they share.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "core.h"
#include "cube_state.h"
#include "trace.h"

namespace dav {

constexpr uint32_t CUBE_SITE = 0x80000000;  // in site offsets: of the cube cores' image
constexpr int EVENTS = 8;                   // event numbers of a pair of pipes
constexpr size_t FLAG_MOST = 15;            // sets that a flag counts
constexpr int LOCAL_READERS = 6;  // pipes that read local memories: S, V, MTE3, MTE1, M, FIX
constexpr uint64_t CACHE_LINE_BYTES = 64;
constexpr int CACHE_LINES = 256;
constexpr int RECENT = 32;  // GM accesses a pipe remembers for hazards within the core

// For each pipe the last record known to be complete.
struct Clock {
    uint32_t seen[PIPES] = {};
};

// One setting of a flag: what its setter had completed.
struct FlagSet {
    Clock clock;
    uint32_t record;
};

// A flag of a pair of pipes: it counts, each wait takes the earliest set.
using Flag = std::deque<FlagSet>;

// A named part of UB, for messages.
struct BufferNote {
    uint32_t offset;
    uint32_t bytes;
    std::string name;
};

// A GM access of one pipe, for hazards within a core.
struct RecentAccess {
    uint64_t low = 0;
    uint64_t high = 0;
    Transfer span{};
    uint32_t record = 0;
};

// A GM access of one core, for conflicts between cores.
struct SharedAccess {
    uint64_t low;
    uint64_t high;
    Transfer span;
    uint32_t segment;  // the one whose end releases it
    uint32_t site;
    bool atomic;
    bool changed;     // a write that altered at least one byte
    bool scalar;      // through the data cache
    uint32_t dirty;   // lines of a scalar write that have not left the data cache
    uint32_t loaded;  // of a scalar access: the segment in which its line came into the cache
    uint32_t record;  // the latest of those that it stands for
};

// A line of the scalar unit's data cache.
struct CacheLine {
    uint64_t number = 0;            // of GM's 64-byte lines; 0: none
    uint32_t loaded = 0;            // segment in which it came
    bool dirty = false;             // written here, not yet in GM
    bool stale = false;             // a copy has written the same bytes of GM since
    std::vector<uint32_t> writers;  // in Core::shared, what it is dirty with
};

// A signal from cores to cores: it is given once `expected` cores have sent it.
struct SignalPoint {
    uint32_t expected;
    bool of_all;  // among all cores of a kind
};

enum class AtomicOperation : uint8_t { NONE, ADD, MAX, MIN };
enum class AtomicType : uint8_t { NONE, F32, F16, S16, S32, S8, BF16 };

// The memories of a core that runs and what the hazard checker knows about them: by 32-byte block
// of local offsets the record that last wrote it and, by reading pipe, that last read it.
struct LocalMemory {
    uint8_t* base = nullptr;
    uint32_t blocks = 0;  // of shadow
    std::vector<uint32_t> writer;
    std::vector<uint32_t> reader[LOCAL_READERS];
    std::vector<uint8_t> initialised;
    RecentAccess recent[PIPES][2][RECENT];  // ring of GM reads and writes by pipe
};

// What the hazard checker knows of a core: which records each pipe can rely on.
struct OrderState {
    Clock clocks[PIPES];        // what each pipe knows to be complete
    uint32_t last[PIPES] = {};  // each pipe's latest record
    std::map<int, Flag> flags;  // by (from, to, event), see flag_of
    uint32_t recent_count[PIPES][2] = {};
};

// The latest store of a core's scalar unit, announced before it is done.
struct ScalarStore {
    static constexpr uint32_t MOST = 16;  // bytes of a register pair
    uint64_t place = 0;
    uint32_t bytes = 0;  // 0: none, or it is known what it did
    size_t access = 0;   // in GmState::shared
    uint8_t before[MOST]{};
};

// What a core did to GM that others may touch too.
struct GmState {
    std::vector<SharedAccess> shared;
    size_t unreleased = 0;  // in `shared`, the first that no signal has released
    std::vector<std::vector<uint32_t>> segments;  // by segment: what of each core is ordered before
    std::map<uint32_t, Clock> released;           // by release: what the core knew to be complete
    ScalarStore storing;
};

// Registers that copies obey.
struct CopyState {
    AtomicOperation atomic = AtomicOperation::NONE;
    AtomicType atomic_type = AtomicType::NONE;
    const void* atomic_site = nullptr;  // of the call that set the operation
    uint64_t store_config = 0;
    uint64_t pad_bits = 0;
    bool pad_set = false;
    bool pad_stays = false;  // beyond the copy that is told no value
    bool bypass_l2 = false;  // the next copy only
};

// set_data_exp_0 to 3: UB that must not be touched.
struct Watches {
    uint64_t values[4] = {};
    bool any = false;
};

// A line that the scalar unit's data cache lacked.
struct ScalarMiss {
    uint32_t record;  // that stands for the access
    uint64_t address;
    bool write;
};

// The scalar unit and its data cache.
struct ScalarState {
    ScalarWork pending;       // not yet in a record
    uint64_t read_bytes = 0;  // of GM
    uint64_t write_bytes = 0;
    CacheLine cache_lines[CACHE_LINES];  // by number
    std::vector<ScalarMiss> misses;      // in program order
    uint64_t cached_from = ~0ull;        // addresses of GM that it has held, and no others
    uint64_t cached_to = 0;
    uint32_t dirty_lines = 0;
};

struct Core {
    int index = 0;                 // in Launch::cores
    bool cube = false;             // an AIC; else an AIV
    int block = 0;                 // the block it works for
    int sub_block = 0;             // which of the block's vector cores
    LocalMemory* local = nullptr;  // while its block runs
    uint8_t* ub = nullptr;         // where its local offsets start
    VectorState vector;
    CubeState cube_state;
    ScalarState scalar;
    CopyState copies;
    OrderState order;
    GmState gm;
    Watches watched;
    std::vector<Record> records{Record{}};  // record 0 means "nothing yet"
    std::vector<Transfer> transfers;
    std::vector<BufferNote> buffers;
    // By address of a tensor, the buffer that it was taken from: first byte, and the one behind it.
    std::map<uint64_t, std::pair<uint64_t, uint64_t>> extents;
    std::set<std::pair<uint64_t, uint64_t>> views;  // begin and end of tensors
    std::pair<int64_t, const void*> quotient{};     // the latest; where, if it has lost a rest
    std::map<const void*, const void*> freed;       // where a queue's buffer was freed last
    std::map<const void*, uint32_t> half_sums;      // additions onto one element by instruction

    bool ordered_by_data = false;  // see OrderedByData
    const void* site = nullptr;    // the code address of all it does, or null
    uint32_t ub_peak = 0;
};

struct Signals;  // see signals.cpp

struct Launch {
    std::vector<Core*> cores;  // block by block, its cube core first
    int block_dim = 1;
    int cubes_per_block = 0;
    int vectors_per_block = 1;
    int resident_blocks = 40;         // blocks that run at the same time
    std::vector<SignalPoint> points;  // by number, see Kind::CORE_SET
    bool auto_sync = true;
    bool true_offsets = false;  // kernels hold UB addresses as offsets from 0
    bool ports[PORTS] = {};     // that copies have gone through
    uint64_t inserted_waits = 0;
    uint64_t inserted_barriers = 0;  // of these, within a pipe
    uint8_t poison = 0xff;           // each byte of what nothing has written
    uint8_t behind = 0xff;           // each byte behind what a tensor holds
    // Only the addresses that copies name are asked for: no copy moves anything, nothing is ordered
    // or timed, and tensors may be larger than the computer's memory.
    bool addresses = false;
    bool checked = false;             // the kernel is built to be checked
    uint64_t tiling_bytes = 0;        // which the host side gives
    uint64_t asked_workspace = 0;     // bytes of it that the host side asks for
    bool elsewhere = false;           // tensors have other addresses, see gm.cpp
    uint64_t over_read = 32;          // bytes behind a tensor's last block that may be read
    std::vector<uint32_t> sync_alls;  // by number: how many cores meet
    // Where the kernel's code is loaded: for vector cores, for cube cores.
    const uint8_t* image[2] = {nullptr, nullptr};
    uint64_t image_bytes[2] = {0, 0};
    std::shared_ptr<Signals> signals;
};

Launch& launch();
// The core whose block is running.
extern Core* current;

// Code address as an offset in the kernel's image (CUBE_SITE added for that of the cube cores); 0
// for anything else.
uint32_t site_offset(const void* site);
// The code address back.
const void* site_address(uint32_t offset);

// A record of a copy between GM and the running core, on `pipe`.
Record transfer_record(const Transfer& span, int pipe, const char* mnemonic);
// Appends a record to the running core, with the scalar time since the last one.
uint32_t append(Record record, const void* site);

}  // namespace dav
