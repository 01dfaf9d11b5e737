// The memory system that all cores share: copies in flight progress like fluids, each no faster
// than its own port, all together no faster than L2 and the memory behind it.
#pragma once

#include <cstdint>
#include <vector>

#include "l2.h"
#include "trace.h"

namespace dav {

// A copy in flight.
struct Flow {
    int core;
    int pipe;
    Transfer transfer;
    double remaining;  // bytes, grown by what misalignment costs
    double cap;        // bytes a cycle that its own port and bursts allow
    double behind;     // bytes from the memory behind L2 for each byte of the copy
    double rate = 0;
    double latency;    // cycles from the last byte's issue to completion
};

class SharedMemory {
   public:
    SharedMemory();
    // Touches what the launch touches, all cores taking turns: leaves the cache as an equal launch
    // before this one does.
    void warm_up();
    // Starts a copy at the present time.
    void start(int core, int pipe, const Transfer& transfer);
    bool idle() const { return flows_.empty(); }
    // When the next copy in flight ends, if nothing else starts before.
    double next_end() const;
    // Moves the time forward, to next_end() at most.
    void run_until(double time);
    // Removes and returns a copy that has ended by now.
    Flow take_ended();
    double now() const { return now_; }
    uint64_t memory_bytes() const { return memory_bytes_; }

   private:
    void share();

    L2Cache cache_;
    std::vector<Flow> flows_;
    double now_ = 0;
    uint64_t memory_bytes_ = 0;
    double backlog_ = 0;   // evicted bytes that wait for the memory to have time
    double memory_rate_;  // bytes a cycle, all cores together
    double l2_rate_;
};

}  // namespace dav
