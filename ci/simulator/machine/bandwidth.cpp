#include "bandwidth.h"

#include <algorithm>
#include <limits>
#include <string>

#include "constants.h"
#include "machine.h"

namespace dav {
namespace {

constexpr uint64_t WINDOW = 512;  // GM is read in aligned windows of so many bytes

// Lowers the rates to one level so that their weighted sum stays within `capacity`; who wants
// less than the level keeps what it wants.
template <typename Weight>
void level(std::vector<Flow>& flows, double capacity, Weight weight) {
    double wanted = 0;
    for (const Flow& flow : flows) wanted += flow.rate * weight(flow);
    if (wanted <= capacity) return;
    std::vector<const Flow*> open;
    for (const Flow& flow : flows)
        if (weight(flow) > 0) open.push_back(&flow);
    std::sort(open.begin(), open.end(),
              [](const Flow* a, const Flow* b) { return a->rate < b->rate; });
    double left = capacity;
    double weights = 0;
    for (const Flow* flow : open) weights += weight(*flow);
    double found = 0;
    for (const Flow* flow : open) {
        found = left / weights;
        if (flow->rate >= found) break;
        left -= flow->rate * weight(*flow);
        weights -= weight(*flow);
    }
    for (Flow& flow : flows)
        if (weight(flow) > 0) flow.rate = std::min(flow.rate, found);
}

bool overlapping(const Transfer& a, const Transfer& b) {
    const auto end = [](const Transfer& one) {
        return one.start + (one.count - 1) * one.stride + one.length;
    };
    return a.start < end(b) && b.start < end(a);
}

}  // namespace

SharedMemory::SharedMemory() {
    const double cycles_per_second = constants().get("clock.mhz") * 1e6;
    memory_rate_ = constants().get("hbm.bytes_per_second") * constants().get("hbm.efficiency") /
                   cycles_per_second;
    l2_rate_ = constants().get("l2.bytes_per_second") / cycles_per_second;
}

void SharedMemory::warm_up() {
    size_t most = 0;
    for (const Core* core : launch().cores) most = std::max(most, core->transfers.size());
    for (size_t turn = 0; turn < most; ++turn)
        for (const Core* core : launch().cores)
            if (turn < core->transfers.size() && !core->transfers[turn].bypass)
                cache_.access(core->transfers[turn]);
}

void SharedMemory::start(int core, int pipe, const Transfer& transfer) {
    static const double misaligned = constants().get("gm.misaligned_factor");
    static const double burst_cycles = constants().get("gm.burst_cycles");
    static const double memory_latency = constants().get("hbm.extra_latency");
    static const double same_address = constants().get("l2.same_address_penalty");
    // By port: into UB, out of UB, into L1, out of L0C.
    static const double issue[] = {
        constants().get("mte2.issue_cycles"), constants().get("mte3.issue_cycles"),
        constants().get("mte2.issue_cycles"), constants().get("fix.issue_cycles")};
    static const double rate[] = {
        constants().get("mte2.bytes_per_cycle"), constants().get("mte3.bytes_per_cycle"),
        constants().get("mte2.l1_bytes_per_cycle"), constants().get("fix.bytes_per_cycle")};
    static const double latency[] = {
        constants().get("mte2.latency"), constants().get("mte3.latency"),
        constants().get("mte2.latency"), constants().get("fix.latency")};
    static const double burst[] = {burst_cycles, burst_cycles,
                                   constants().get("mte2.l1_burst_cycles"),
                                   constants().get("fix.burst_cycles")};
    const int side = int(transfer.port);
    Flow flow{};
    flow.core = core;
    flow.pipe = pipe;
    flow.transfer = transfer;
    // A burst that starts off a window and crosses into the next costs part of another window.
    const uint64_t place = transfer.start % WINDOW;
    const bool crosses = place != 0 && place + transfer.length > WINDOW;
    flow.remaining = double(transfer.bytes()) * (crosses ? misaligned : 1.0);
    const double least = std::max({issue[side], burst[side] * transfer.count,
                                   double(transfer.least)});
    flow.cap = std::min(rate[side], flow.remaining / least);
    // Several cores that read one place at the same time hold each other up.
    if (!transfer.write) {
        int others = 0;
        for (const Flow& other : flows_)
            others += !other.transfer.write && other.core != core &&
                      overlapping(other.transfer, transfer);
        flow.cap /= 1 + same_address * others;
    }
    static const double bypass = constants().get("l2.bypass_memory_factor");
    static const double most_backlog = constants().get("l2.write_back_bytes");
    uint64_t behind = 0;
    if (transfer.bypass) {
        behind = static_cast<uint64_t>(flow.remaining * bypass);
        memory_bytes_ += behind;
    } else {
        // Write-backs use what the copies leave of the memory's time, until too many wait.
        const MemoryCost cost = cache_.access(transfer);
        memory_bytes_ += cost.fetched + cost.evicted;
        behind = cost.fetched;
        if (backlog_ < most_backlog)
            backlog_ += double(cost.evicted);
        else
            behind += cost.evicted;
    }
    flow.behind = double(behind) / flow.remaining;
    flow.latency = latency[side] + (behind > 0 && !transfer.write ? memory_latency : 0);
    flows_.push_back(flow);
    share();
}

void SharedMemory::share() {
    for (Flow& flow : flows_) flow.rate = flow.cap;
    level(flows_, l2_rate_, [](const Flow&) { return 1.0; });
    level(flows_, memory_rate_, [](const Flow& flow) { return flow.behind; });
}

double SharedMemory::next_end() const {
    double end = std::numeric_limits<double>::infinity();
    for (const Flow& flow : flows_) end = std::min(end, now_ + flow.remaining / flow.rate);
    return end;
}

void SharedMemory::run_until(double time) {
    const double passed = time - now_;
    double used = 0;
    for (Flow& flow : flows_) {
        flow.remaining -= flow.rate * passed;
        used += flow.rate * flow.behind;
    }
    backlog_ = std::max(0.0, backlog_ - std::max(0.0, memory_rate_ - used) * passed);
    now_ = time;
}

Flow SharedMemory::take_ended() {
    size_t ended = 0;
    for (size_t i = 1; i < flows_.size(); ++i)
        if (flows_[i].remaining / flows_[i].rate < flows_[ended].remaining / flows_[ended].rate)
            ended = i;
    const Flow flow = flows_[ended];
    flows_.erase(flows_.begin() + static_cast<std::ptrdiff_t>(ended));
    share();
    return flow;
}

}  // namespace dav
