// The memory system that all cores share: copies in flight progress like fluids, each no faster
// than its own port, all together no faster than L2 and the memory behind it.
#pragma once

#include <cstdint>
#include <vector>

#include "constants.h"
#include "l2.h"
#include "trace.h"

namespace dav {

struct ScalarMiss;

// A copy in flight.
struct Flow {
    int core;
    int pipe;
    Transfer transfer;
    double remaining;       // bytes that move: whole lines, whole windows where it is misaligned
    double cap;             // bytes a cycle that its own port and bursts allow
    double behind;          // bytes from the memory behind L2 for each byte that moves
    double slots;           // turns at a busy memory that a byte takes
    double latency;         // cycles from the last byte's issue to completion
    double queue_most = 0;  // cycles in which the memory serves all that others ask for meanwhile
    double rate = 0;
    double total = 0;       // bytes that move, of which `remaining` are left
    double missing = 0;     // share of its lines that are not in L2 when it asks for them
    double in_flight = 0;   // bytes that it asks for at a time
    double round_trip = 0;  // cycles from a request to its bytes, alone
    double turn = 0;        // that a request waits for one of another core at its place
    int together = 0;       // copies of other cores that are at the same place now
    int crowd = 0;          // the most of them by now
};

class SharedMemory {
public:
    explicit SharedMemory(const Constants& constants);
    // Touches what the launch touches, all cores taking turns: leaves the cache as an equal launch
    // before this one does.
    void warm_up();
    // The inputs are in the cache, as far as they fit: a kernel before this one has left them.
    void hold_inputs();
    // That share of the cache's other lines has been written before, and nothing put them out.
    void fill_with_written(double share) { cache_.fill_with_written(share); }
    // Starts a copy at the present time, of which `buffered` bytes have moved already; the core's
    // side is at it for `least` cycles at least.
    void start(int core, int pipe, const Transfer& transfer, double least, double buffered);
    // A line comes into a core's data cache: cycles beyond those of one that is in L2.
    double fetch_line(const ScalarMiss& miss);
    // How many of a store's bytes the core's buffer takes now.
    double take_buffer(int core, uint64_t bytes);
    // Whether more is asked of the memory than it gives.
    bool memory_is_busy() const { return memory_is_busy_; }
    bool idle() const { return flows_.empty(); }
    // When the next copy in flight ends, if nothing else starts before.
    double next_end() const;
    // Moves the time forward, to next_end() at most.
    void run_until(double time);
    // Removes and returns a copy that has ended by now.
    Flow take_ended();
    double now() const { return now_; }
    uint64_t memory_bytes() const { return memory_bytes_; }
    const FirstTouched& first_touched() const { return cache_.first_touched(); }

private:
    // The core's side of a way between GM and its memories.
    struct PortCost {
        double issue;    // cycles between two copies at least
        double rate;     // bytes a cycle
        double latency;  // cycles
        double burst;    // cycles of a burst within a copy
        double window;   // bytes asked for at a time; 0: of a store
    };
    // What all share.
    struct Costs {
        explicit Costs(const Constants& constants);
        PortCost ports[PORTS];
        double memory_latency;
        double queue;         // cycles
        double queue_memory;  // the same: over how long the load counts
        double write_slots;
        double write_back;
        double most_backlog;
        double bypass_least;
        double l1_burst_from_memory;
        double l1_burst_same_line;
        double place_cycles;
        double buffer_bytes;
        double memory_rate;  // bytes a cycle, all cores together
        double l2_rate;
    };

    void share();
    double cores() const;
    double queueing(const Flow& flow) const;
    double memory_bytes_of(const Transfer& transfer);

    // The share of a load's wait for the memory that is left where another one has asked for its
    // first line already: the cache does not hold it yet, and asks no second time.
    double on_their_way(const Transfer& transfer) const;
    void note_arrival(const Transfer& transfer, double time);

    // When the first line of a load comes from the memory.
    struct Arrival {
        uint64_t window = 0;
        double time = 0;
    };
    // What a core has stored and the memory has not yet taken.
    struct Buffer {
        double held = 0;
        double since = 0;
    };

    const Costs costs_;
    L2Cache cache_;
    std::vector<Buffer> buffers_;
    std::vector<Flow> flows_;
    std::vector<Arrival> arrivals_;  // by the window's last digits
    double now_ = 0;
    uint64_t memory_bytes_ = 0;
    bool memory_is_busy_ = false;
    double owed_ = 0;     // memory bytes of stores that went to a buffer
    double backlog_ = 0;  // evicted bytes that wait for the memory to have time
    double load_ = 0;     // share of its time that the memory has been at work, of late
};

}  // namespace dav
