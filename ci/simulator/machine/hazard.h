// Hazards: accesses to the same bytes, at least one of them a write, that nothing orders.
//
// Each pipe has a vector clock: for every pipe the last record known to be complete before the
// pipe's next instruction starts. set_flag/wait_flag, pipe_barrier and in-order dispatch by the
// scalar unit advance it. UB is shadowed by 32-byte blocks, GM by each pipe's latest accesses.
#pragma once

#include <array>

#include "machine.h"

namespace dav {

// The hazards of one instruction that is about to be issued on `pipe`.
class Hazards {
public:
    Hazards(int pipe, const char* mnemonic, const void* site);
    void read_ub(uint32_t offset, uint32_t bytes);
    void write_ub(uint32_t offset, uint32_t bytes);
    void read_gm(const Transfer& span);
    void write_gm(const Transfer& span);
    // The instruction sums onto its target: the cube's pipeline covers that unless the result is
    // `small`, when only a barrier orders it after the sum before.
    void sum(bool small) { small_sum_ = small; }
    // The instruction is ordered with those of the cube or the fixpipe by unit flags.
    void unit_flag(bool set) { unit_flag_ = set; }
    // Everything before `record` on `pipe` must be complete (for registers).
    void after(int pipe, uint32_t record);
    // Waits, by hardware, for all that was issued on `pipe`.
    void finish(int pipe);
    // With automatic sync inserts the missing waits, else ends the launch as a race. Call it
    // after all operands and before appending the instruction's own record.
    void settle();
    // The instruction rewrites a result of its own pipe that may still be in flight.
    bool drain() const { return drain_; }

private:
    enum class Hazard : uint8_t { READ_AFTER_WRITE, WRITE_AFTER_READ, WRITE_AFTER_WRITE };
    void need(int pipe, uint32_t record, Hazard kind, uint64_t address, bool gm);

    int pipe_;
    const char* mnemonic_;
    const void* site_;
    // "vadds on VECTOR overwrites what copy_ubuf_to_gm on MTE3 reads at UB bytes 0x0..0x1f".
    std::string told(int pipe) const;
    bool covered(int pipe, const std::array<bool, PIPES>& left_out) const;
    void wait_for(int pipe, uint32_t record, const char* name);
    // Ends the launch when a register that watches UB asks for it.
    void check_watches(uint32_t start, uint32_t end, bool write) const;

    // Copies on one pipe start in order but are not through in order.
    void overlaps_own_copy(const char* where);

    bool drain_ = false;
    bool told_ = false;
    bool small_sum_ = false;
    bool unit_flag_ = false;
    uint32_t flagged_[PIPES] = {};  // records that a unit flag orders this one after
    uint32_t needed_[PIPES] = {};
    Hazard kind_[PIPES] = {};
    uint64_t address_[PIPES] = {};
    bool gm_[PIPES] = {};
};

// Books the accesses of the record that was just appended.
void mark_ub_read(int pipe, uint32_t offset, uint32_t bytes, uint32_t record);
void mark_ub_write(uint32_t offset, uint32_t bytes, uint32_t record);
void mark_gm(int pipe, const Transfer& span, uint32_t record);

// "UB bytes 0x200..0x3ff (buffer inQueueX)", or of another memory by its local offset.
std::string describe_ub(uint32_t offset, uint32_t bytes);

// True when the two bursts-with-strides share a byte.
bool overlap(const Transfer& a, const Transfer& b);

}  // namespace dav
