#include "bandwidth.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include "gm.h"
#include "machine.h"

namespace dav {
namespace {

// A queue that is served for 85 % of the time forgets its state in so many of its service times:
// 1 / (1 - sqrt(0.85))^2.
constexpr double QUEUE_SETTLES = 164;

constexpr size_t NOTED = 4096;  // loads whose arrival is kept in mind; a later one takes the place

// What a burst moves: whole lines; when it starts within a line, every window that it touches.
uint64_t moved_bytes(uint64_t start, uint64_t length) {
    const uint64_t grain = start % LINE_BYTES == 0 ? LINE_BYTES : WINDOW_BYTES;
    return ((start + length - 1) / grain - start / grain + 1) * grain;
}

// The sum over a copy's bursts. `least`: what one burst counts at least.
double moved_bytes(const Transfer& transfer, double least) {
    // Bursts whose starts differ by whole windows move alike.
    const uint64_t period = transfer.stride % WINDOW_BYTES == 0 ? 1 : transfer.count;
    double sum = 0;
    for (uint64_t burst = 0; burst < period; ++burst)
        sum += std::max(
            least, double(moved_bytes(transfer.start + burst * transfer.stride, transfer.length)));
    return sum * double(transfer.count) / double(period);
}

// Slows the flows down until they use no more than `capacity` of what all share. A flow uses
// `use(flow)` for each byte; its turn lets `1 / slots` bytes through, so under load its rate is one
// level divided by its slots, and who wants less leaves the rest to the others.
template <typename Use, typename Slots>
bool level(std::vector<Flow>& flows, double capacity, Use use, Slots slots) {
    double wanted = 0;
    for (const Flow& flow : flows) wanted += flow.rate * use(flow);
    if (wanted <= capacity) return false;
    struct Open {
        double wish;  // the level at which it gets all that it wants
        const Flow* flow;
    };
    static std::vector<Open> open;
    open.clear();
    for (const Flow& flow : flows)
        if (use(flow) > 0) open.push_back({flow.rate * slots(flow), &flow});
    std::sort(open.begin(), open.end(),
              [](const Open& a, const Open& b) { return a.wish < b.wish; });
    double left = capacity;
    double share = 0;
    for (const Open& one : open) share += use(*one.flow) / slots(*one.flow);
    double found = 0;
    for (const Open& one : open) {
        found = left / share;
        if (one.wish >= found) break;
        left -= one.flow->rate * use(*one.flow);
        share -= use(*one.flow) / slots(*one.flow);
    }
    for (Flow& flow : flows) {
        if (slots(flow) > 0) flow.rate = std::min(flow.rate, found / slots(flow));
    }
    return true;
}

// The share of the bursts that begin in the line of the burst before them.
double shared_lines(const Transfer& transfer) {
    if (transfer.stride >= LINE_BYTES || transfer.count == 1) return 0;
    const uint64_t first = transfer.start / LINE_BYTES;
    const uint64_t last = (transfer.start + (transfer.count - 1) * transfer.stride) / LINE_BYTES;
    return 1 - double(last - first + 1) / double(transfer.count);
}

bool dense(const Transfer& transfer) {
    return transfer.count == 1 || transfer.stride == transfer.length;
}

// Whether two copies move some window at the same time, as far as their shapes tell: the extents
// meet, and rows of equal pitch meet in their columns too.
bool same_place(const Transfer& a, const Transfer& b) {
    const auto end = [](const Transfer& one) {
        return one.start + (one.count - 1) * one.stride + one.length;
    };
    if (a.write != b.write || a.start >= end(b) || b.start >= end(a)) return false;
    if (dense(a) || dense(b)) return true;
    if (a.stride != b.stride) return false;
    const uint64_t apart = (b.start % a.stride + a.stride - a.start % a.stride) % a.stride;
    return apart < a.length || a.stride - apart < b.length;
}

// Cycles in which another load of the same place still asks the memory for lines: who wants them
// too gets the last of them no sooner.
double still_asking(const Flow& other, const Flow& flow) {
    if (other.transfer.write || other.transfer.bypass || flow.transfer.bypass) return 0;
    if (other.missing == 0 || other.rate <= 0) return 0;
    return std::min(other.remaining, flow.total) / other.rate;
}

}  // namespace

SharedMemory::Costs::Costs(const Constants& constants)
    : ports{}, memory_latency(constants.get("hbm.extra_ns") * constants.get("clock.mhz") / 1000),
      queue(constants.get("hbm.queue_cycles")), queue_memory(QUEUE_SETTLES * queue),
      write_slots(constants.get("l2.write_slots")),
      write_back(constants.get("hbm.write_back_factor")),
      most_backlog(constants.get("l2.write_back_bytes")),
      bypass_least(constants.get("l2.bypass_least_bytes")), l1_burst_from_memory(0),
      l1_burst_same_line(0), place_cycles(constants.get("l2.place_cycles")),
      buffer_bytes(constants.get("mte3.buffer_bytes")) {
    const auto get = [&](const char* name) { return constants.get(name); };
    const auto used = [](Port port) { return launch().ports[int(port)]; };
    if (used(Port::TO_UB))
        ports[int(Port::TO_UB)] = {get("mte2.issue_cycles"), get("mte2.bytes_per_cycle"),
                                   get("mte2.latency"), get("gm.burst_cycles"),
                                   get("mte2.window_bytes")};
    if (used(Port::FROM_UB))
        ports[int(Port::FROM_UB)] = {get("mte3.issue_cycles"), get("mte3.bytes_per_cycle"),
                                     get("mte3.latency"), get("gm.burst_cycles"), 0};
    if (used(Port::TO_L1)) {
        ports[int(Port::TO_L1)] = {get("mte2.issue_cycles"), get("mte2.l1_bytes_per_cycle"),
                                   get("mte2.latency"), get("mte2.l1_burst_cycles"),
                                   get("mte2.l1_window_bytes")};
        l1_burst_from_memory = get("mte2.l1_burst_memory_cycles");
        l1_burst_same_line = get("mte2.l1_burst_same_line_cycles");
    }
    if (used(Port::FROM_L0C))
        ports[int(Port::FROM_L0C)] = {get("fix.issue_cycles"), get("fix.bytes_per_cycle"),
                                      get("fix.latency"), get("fix.burst_cycles"), 0};
    const double cycles_per_second = get("clock.mhz") * 1e6;
    memory_rate = get("hbm.bytes_per_second") * get("hbm.efficiency") / cycles_per_second;
    l2_rate = get("l2.bytes_per_second") / cycles_per_second;
}

SharedMemory::SharedMemory(const Constants& constants)
    : costs_(constants), cache_(static_cast<uint64_t>(constants.get("l2.bytes"))),
      arrivals_(NOTED) {}

void SharedMemory::warm_up() {
    size_t most = 0;
    for (const Core* core : launch().cores) most = std::max(most, core->transfers.size());
    for (size_t turn = 0; turn < most; ++turn)
        for (const Core* core : launch().cores)
            if (turn < core->transfers.size() && !core->transfers[turn].bypass)
                cache_.access(core->transfers[turn]);
    for (const Core* core : launch().cores)
        for (const ScalarMiss& miss : core->scalar.misses) fetch_line(miss);
    cache_.begin();
}

void SharedMemory::hold_inputs() {
    for (const GmRange& input : gm_inputs()) cache_.hold(input.start, input.bytes);
}

double SharedMemory::fetch_line(const ScalarMiss& miss) {
    constexpr uint32_t BYTES = CACHE_LINE_BYTES;
    const Transfer line{miss.address / BYTES * BYTES, BYTES, BYTES, 1, miss.write};
    return cache_.access(line).fetched > 0 ? costs_.memory_latency : 0;
}

void SharedMemory::start(int core, int pipe, const Transfer& transfer, double least,
                         double buffered) {
    const PortCost& port = costs_.ports[int(transfer.port)];
    Flow flow{};
    flow.core = core;
    flow.pipe = pipe;
    flow.transfer = transfer;
    flow.remaining = flow.total = moved_bytes(transfer, 0);
    const double behind = memory_bytes_of(transfer);
    flow.behind = behind / flow.remaining;
    const double missing = std::min(1.0, flow.behind);
    flow.missing = missing;
    flow.slots = transfer.bypass ? 1 : transfer.write ? costs_.write_slots : 1 + missing;
    if (!transfer.write && !transfer.bypass && missing < 1)
        flow.missing = std::max(missing, on_their_way(transfer));
    for (Flow& other : flows_)
        if (other.core != core && same_place(other.transfer, transfer)) {
            other.crowd = std::max(other.crowd, ++other.together);
            flow.crowd = ++flow.together;
            least = std::max(least, still_asking(other, flow));
        }
    flow.latency = port.latency;
    flow.cap = port.rate;
    flow.in_flight = port.rate * port.latency;
    if (!transfer.write) {
        // So many bytes are asked for at a time, and come a latency later.
        flow.latency += flow.missing * costs_.memory_latency;
        flow.in_flight = port.window;
        flow.cap = std::min(flow.cap, port.window / flow.latency);
        if (missing > 0 && !transfer.bypass) note_arrival(transfer, now_ + flow.latency);
        const double fetched = flow.missing * std::min(flow.remaining, port.window);
        flow.queue_most = (cores() - 1) * fetched / costs_.memory_rate;
    }
    flow.round_trip = flow.latency;
    // Past L2 a short burst keeps the port for what it counts at the memory.
    const double longer =
        transfer.bypass ? std::max(1.0, costs_.bypass_least /
                                            std::max<double>(double(LINE_BYTES), transfer.length))
                        : 1.0;
    double bursts = port.burst * transfer.count;
    // Into L1 a burst is set up and then moves; one from the memory is waited for longer.
    if (transfer.port == Port::TO_L1)
        bursts += transfer.count * (flow.missing * costs_.l1_burst_from_memory +
                                    shared_lines(transfer) * costs_.l1_burst_same_line) +
                  flow.remaining / port.rate;
    const double busy = std::max({port.issue, bursts * longer, least});
    flow.cap = std::min(flow.cap, flow.remaining / busy);
    // What the buffer has taken is written all the same: the next copy finds the memory at it.
    flow.remaining = std::max(0.0, flow.remaining - buffered);
    owed_ += behind;
    flow.behind = 0;
    if (flow.remaining >= 1) flow.behind = std::exchange(owed_, 0.0) / flow.remaining;
    // A request is for a window at most.
    double asked = double(WINDOW_BYTES);
    if (!dense(transfer))
        asked = std::min(asked, double(moved_bytes(transfer.start, transfer.length)));
    flow.in_flight *= asked / double(WINDOW_BYTES);
    flow.turn = costs_.place_cycles * asked / double(LINE_BYTES);
    if (!transfer.write) flow.turn *= flow.missing;
    flows_.push_back(flow);
    share();
}

// What a copy costs the memory behind the cache, in bytes read from there.
double SharedMemory::memory_bytes_of(const Transfer& transfer) {
    if (transfer.bypass) {
        cache_.pass_by(transfer);
        memory_bytes_ += transfer.bytes();
        return moved_bytes(transfer, costs_.bypass_least);
    }
    // Write-backs use what the copies leave of the memory's time, until too many wait.
    const MemoryCost cost = cache_.access(transfer);
    memory_bytes_ += cost.fetched + cost.evicted;
    double behind = double(cost.fetched) * moved_bytes(transfer, 0) / double(transfer.bytes());
    const double evicted = costs_.write_back * double(cost.evicted);
    if (backlog_ < costs_.most_backlog)
        backlog_ += evicted;
    else
        behind += evicted;
    return behind;
}

void SharedMemory::share() {
    // Requests for one window of the memory are served in turn: each waits for those of the others.
    for (Flow& flow : flows_) {
        flow.rate = flow.cap;
        const double waits = flow.turn * double(flow.together);
        if (waits > 0) flow.rate = std::min(flow.rate, flow.in_flight / (flow.round_trip + waits));
    }
    level(flows_, costs_.l2_rate, [](const Flow&) { return 1.0; }, [](const Flow&) { return 1.0; });
    // Stores stand in the queue of the memory's channels with what is read from there.
    memory_is_busy_ = level(
        flows_, costs_.memory_rate, [](const Flow& flow) { return flow.behind; },
        [](const Flow& flow) { return flow.behind > 0 || flow.transfer.write ? flow.slots : 0.0; });
}

// That run at the same time.
double SharedMemory::cores() const {
    const double blocks = double(std::min(launch().block_dim, launch().resident_blocks));
    return blocks * std::max(1, int(launch().vectors_per_block));
}

// What a load waits at the memory's channels: as at a server that is busy for `load_` of the time,
// and no longer than the other cores can have asked for.
double SharedMemory::queueing(const Flow& flow) const {
    const double wait = flow.queue_most > 0 ? costs_.queue * load_ / (1 - load_) : 0;
    return std::min(wait, flow.queue_most);
}

double SharedMemory::on_their_way(const Transfer& transfer) const {
    const uint64_t window = transfer.start / WINDOW_BYTES;
    const Arrival& noted = arrivals_[window % arrivals_.size()];
    if (noted.window != window || costs_.memory_latency <= 0) return 0;
    const double left = noted.time - now_ - costs_.ports[int(transfer.port)].latency;
    return std::clamp(left / costs_.memory_latency, 0.0, 1.0);
}

void SharedMemory::note_arrival(const Transfer& transfer, double time) {
    const uint64_t window = transfer.start / WINDOW_BYTES;
    arrivals_[window % arrivals_.size()] = {window, time};
}

double SharedMemory::take_buffer(int core, uint64_t bytes) {
    if (buffers_.empty()) buffers_.resize(launch().cores.size());
    Buffer& buffer = buffers_[core];
    // It empties at the core's fair share of the memory.
    const double drained = (now_ - buffer.since) * costs_.memory_rate / cores();
    const double held = std::max(0.0, buffer.held - drained);
    const double taken = std::min(double(bytes), costs_.buffer_bytes - held);
    buffer = {held + taken, now_};
    return taken;
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
    const double spare = std::max(0.0, costs_.memory_rate - used) * passed;
    const double written_back = std::min(backlog_, spare);
    backlog_ -= written_back;
    const double busy =
        std::min(1.0, (used * passed + written_back) / (costs_.memory_rate * passed));
    if (passed > 0) load_ += (busy - load_) * (1 - std::exp(-passed / costs_.queue_memory));
    now_ = time;
}

Flow SharedMemory::take_ended() {
    size_t ended = 0;
    for (size_t i = 1; i < flows_.size(); ++i)
        if (flows_[i].remaining / flows_[i].rate < flows_[ended].remaining / flows_[ended].rate)
            ended = i;
    Flow flow = flows_[ended];
    flow.latency += queueing(flow) + flow.turn * double(flow.crowd);
    for (Flow& other : flows_)
        other.together -= other.core != flow.core && same_place(other.transfer, flow.transfer);
    flows_.erase(flows_.begin() + static_cast<std::ptrdiff_t>(ended));
    share();
    return flow;
}

}  // namespace dav
