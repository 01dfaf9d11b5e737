#include "timing.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <memory>
#include <queue>

#include "bandwidth.h"
#include "constants.h"
#include "core_timer.h"
#include "conflicts.h"
#include "machine.h"
#include "report.h"
#include "timeline.h"

namespace dav {
namespace {

// A copy that will start.
struct Start {
    double time;
    uint64_t order;
    int core;
    int pipe;
    Transfer transfer;
    double least;  // cycles that the core's side takes at least
    static constexpr double NOT_ASKED = -1;
    double buffered = NOT_ASKED;  // of a store: bytes that have gone to the core's buffer
    // What is ready first; of a load and a store at once the store.
    bool operator>(const Start& other) const {
        if (time != other.time) return time > other.time;
        if (transfer.write != other.transfer.write) return other.transfer.write;
        return order > other.order;
    }
};

// AI cores that so many blocks at once take: a block of vector cores alone is one of the two of an
// AI core.
size_t ai_cores(size_t blocks) { return launch().cubes_per_block > 0 ? blocks : (blocks + 1) / 2; }

class TimingPass : public TimerWorld {
public:
    TimingPass(const Constants& constants, bool keep_spans)
        : constants_(constants), prices_(constants), memory_(constants) {
        for (const Core* core : launch().cores)
            timers.push_back(
                std::make_unique<CoreTimer>(*core, *this, constants, prices_, keep_spans));
        const Launch& shared = launch();
        cores_per_block_ = size_t(shared.cubes_per_block + shared.vectors_per_block);
        cores_left_.assign(shared.block_dim, cores_per_block_);
        arrivals_.resize(shared.points.size());
        held_.resize(timers.size());
        storing_.resize(timers.size());
        store_rate_ = constants.get("mte3.bytes_per_cycle");
        if (!shared.sync_alls.empty() || !shared.points.empty()) {
            sync_base_ = constants.get("sync.all_cycles");
            sync_core_ = constants.get("sync.all_cycles_per_core");
            signal_ = constants.get("sync.core_flag_cycles");
        }
        if (constants.get("l2.warm") != 0) memory_.warm_up();
        if (constants.get("l2.inputs") != 0) memory_.hold_inputs();
        memory_.fill_with_written(constants.get("l2.written"));
    }

    void run() {
        const size_t at_once = std::min(launch().block_dim, launch().resident_blocks);
        // All cores ask for the same code at once and get it in turn: an AI core's two vector cores
        // together, its cube core for itself.
        const int kinds = (launch().cubes_per_block > 0) + (launch().vectors_per_block > 0);
        const double fetch =
            constants_.get("launch.fetch_cycles_per_core") * double(ai_cores(at_once)) * kinds;
        const double start_up = constants_.get("launch.start_up_cycles");
        while (next_block_ < at_once) begin_block(0, fetch, start_up);
        settle();
        while (!starts_.empty() || !memory_.idle()) {
            const double end = memory_.next_end();
            if (!starts_.empty() && starts_.top().time <= end) {
                const Start start = starts_.top();
                starts_.pop();
                memory_.run_until(std::max(start.time, memory_.now()));
                begin_transfer(start);
                continue;
            }
            memory_.run_until(end);
            const Flow flow = memory_.take_ended();
            if (flow.transfer.port == Port::FROM_UB) release(flow.core, end);
            timers[flow.core]->transfer_ended(flow.pipe, end, flow.latency);
            touched_.push_back(flow.core);
            settle();
        }
        for (const auto& timer : timers)
            if (!timer->ended())
                fail(Outcome::LAUNCH_ERROR, nullptr, nullptr,
                     "deadlock: in the timing pass a core waits for what never comes.");
    }

    // From the launch to the end of the last core.
    double total_cycles() const {
        double last = 0;
        for (const auto& timer : timers) last = std::max(last, timer->end_time());
        const size_t at_once = std::min(launch().block_dim, launch().resident_blocks);
        const double overhead_us =
            constants_.get("launch.base_us") +
            constants_.get("launch.us_per_core") * (double(ai_cores(at_once)) - 1);
        return last + overhead_us * constants_.get("clock.mhz");
    }

    void start_transfer(int core, int pipe, const Transfer& transfer, double least,
                        double time) override {
        starts_.push({time, order_++, core, pipe, transfer, least});
    }

    bool sync_all(int core, uint32_t number, double time, double& release) override {
        if (gatherings_.size() <= number) gatherings_.resize(number + 1);
        Gathering& gathering = gatherings_[number];
        if (time != ASKED_BEFORE) {
            ++gathering.arrived;
            gathering.latest = std::max(gathering.latest, time);
            if (gathering.arrived < launch().sync_alls[number]) {
                gathering.waiting.push_back(core);
            } else {
                for (const int other : gathering.waiting) touched_.push_back(other);
            }
        }
        if (gathering.arrived < launch().sync_alls[number]) return false;
        release = gathering.latest + sync_base_ + sync_core_ * double(gathering.arrived);
        return true;
    }

    void core_set(uint32_t number, double time) override {
        Gathering& gathering = arrivals_[number];
        ++gathering.arrived;
        gathering.latest = std::max(gathering.latest, time);
        if (gathering.arrived < launch().points[number].expected) return;
        for (const int core : gathering.waiting) touched_.push_back(core);
        gathering.waiting.clear();
    }

    bool core_wait(int core, uint32_t number, double& time) override {
        const SignalPoint& point = launch().points[number];
        Gathering& gathering = arrivals_[number];
        if (gathering.arrived < point.expected) {
            if (std::find(gathering.waiting.begin(), gathering.waiting.end(), core) ==
                gathering.waiting.end())
                gathering.waiting.push_back(core);
            return false;
        }
        time = gathering.latest +
               (point.of_all ? sync_base_ + sync_core_ * double(point.expected) : signal_);
        return true;
    }

    void block_ended(int core, double time) override {
        const int block = launch().cores[core]->block;
        if (--cores_left_[block] != 0 || next_block_ >= cores_left_.size()) return;
        begin_block(time + constants_.get("launch.next_block_cycles"), 0, 0);
    }

    double fetch_line(const ScalarMiss& miss) override { return memory_.fetch_line(miss); }

    uint64_t memory_bytes() const { return memory_.memory_bytes(); }
    const FirstTouched& first_touched() const { return memory_.first_touched(); }

    std::vector<std::unique_ptr<CoreTimer>> timers;

private:
    struct Gathering {
        size_t arrived = 0;
        double latest = 0;
        std::vector<int> waiting;
    };

    // Starts all cores of the next block.
    void begin_block(double time, double fetch, double start_up) {
        for (size_t core = next_block_ * cores_per_block_;
             core < (next_block_ + 1) * cores_per_block_; ++core) {
            timers[core]->begin(time, fetch, start_up);
            touched_.push_back(static_cast<int>(core));
        }
        ++next_block_;
    }

    void begin_transfer(Start start) {
        if (!start.transfer.write) {
            // Through the cache, a load queues behind a store of its core at a busy memory.
            if (storing_[start.core] > 0 && memory_.memory_is_busy() && !start.transfer.bypass)
                held_[start.core].push_back(start);
            else
                memory_.start(start.core, start.pipe, start.transfer, start.least, 0);
            return;
        }
        if (start.transfer.port == Port::FROM_UB && start.buffered == Start::NOT_ASKED) {
            ++storing_[start.core];
            start.buffered = memory_.take_buffer(start.core, start.transfer.bytes());
            start.time += start.buffered / store_rate_;
            starts_.push(start);
            return;
        }
        memory_.start(start.core, start.pipe, start.transfer, start.least,
                      std::max(0.0, start.buffered));
    }

    // The core's store has gone out: its loads may begin.
    void release(int core, double time) {
        --storing_[core];
        for (const Start& start : held_[core]) {
            timers[core]->transfer_delayed(start.pipe, MTE3, time);
            memory_.start(start.core, start.pipe, start.transfer, start.least, 0);
        }
        held_[core].clear();
    }

    void settle() {
        while (!touched_.empty()) {
            const int core = touched_.back();
            touched_.pop_back();
            timers[core]->advance();
        }
    }

    const Constants& constants_;
    const Prices prices_;
    SharedMemory memory_;
    std::priority_queue<Start, std::vector<Start>, std::greater<Start>> starts_;
    std::vector<int> storing_;              // by core: stores under way
    std::vector<std::vector<Start>> held_;  // by core: loads that wait for its store
    std::vector<int> touched_;              // cores that may be able to go on
    std::vector<Gathering> gatherings_;
    std::vector<Gathering> arrivals_;  // by number of the point
    std::vector<size_t> cores_left_;   // by block
    size_t cores_per_block_ = 1;
    size_t next_block_ = 0;
    uint64_t order_ = 0;
    double store_rate_;
    double sync_base_ = 0;
    double sync_core_ = 0;
    double signal_ = 0;
};

std::string peer_name(int peer) {
    return peer == CoreTimer::SYNC ? "OTHER_CORES" : pipe_name(peer);
}

void count_instructions(Profile& profile) {
    for (const Core* core : launch().cores) {
        std::vector<uint64_t> counts(mnemonic_names().size(), 0);
        for (const Record& record : core->records)
            if (record.kind != Kind::NONE && record.kind != Kind::SCALAR &&
                record.kind != Kind::END)
                ++counts[record.name];
        for (size_t name = 0; name < counts.size(); ++name)
            if (counts[name] != 0) profile.instructions[mnemonic_names()[name]] += counts[name];
        for (const Transfer& transfer : core->transfers)
            (transfer.write ? profile.gm_write_bytes : profile.gm_read_bytes) += transfer.bytes();
        profile.gm_read_bytes += core->scalar.read_bytes;
        profile.gm_write_bytes += core->scalar.write_bytes;
        profile.ub_peak_bytes = std::max(profile.ub_peak_bytes, core->ub_peak);
    }
}

std::vector<std::pair<uint32_t, double>> costliest(const CoreTimer& timer, size_t most) {
    std::vector<std::pair<uint32_t, double>> sites(timer.by_site().begin(), timer.by_site().end());
    std::sort(sites.begin(), sites.end(), [](const auto& a, const auto& b) {
        return a.second != b.second ? a.second > b.second : a.first < b.first;
    });
    if (sites.size() > most) sites.resize(most);
    return sites;
}

// A last core has a tail of its own, and is a vector core where the first one is a cube core.
void find_lines(Profile& profile, const CoreTimer& first, const CoreTimer& last) {
    constexpr size_t HOT = 60, RAN = 300;
    profile.hot_lines = costliest(first, HOT);
    for (const CoreTimer* timer : {&first, &last})
        for (const auto& [site, cycles] : costliest(*timer, RAN)) profile.ran.push_back(site);
    std::sort(profile.ran.begin(), profile.ran.end());
    profile.ran.erase(std::unique(profile.ran.begin(), profile.ran.end()), profile.ran.end());
}

}  // namespace

Profile time_launch(const std::string& timeline) {
    TimingPass pass(constants(), !timeline.empty());
    pass.run();
    Profile profile;
    const double cores = double(pass.timers.size());
    profile.block_dim = launch().block_dim;
    double sum = 0;
    double kind_cores[2] = {0, 0};
    for (const Core* core : launch().cores) ++kind_cores[core->cube];
    for (const auto& timer : pass.timers) {
        const bool cube = timer->on_cube();
        // Where both kinds run, what the cube cores have in common with the others gets a prefix.
        const auto name = [&](int pipe) {
            const bool own = pipe == M || pipe == MTE1 || pipe == FIX;
            return std::string(cube && !own && kind_cores[0] > 0 ? "AIC_" : "") + pipe_name(pipe);
        };
        for (int pipe = 0; pipe < PIPES; ++pipe) {
            if (pipe == ALL || (cube && pipe == V)) continue;
            if (!cube && kind_cores[1] > 0 && (pipe == M || pipe == MTE1 || pipe == FIX)) continue;
            profile.busy_cycles[name(pipe)] += timer->busy(pipe) / kind_cores[cube];
        }
        for (const auto& [pair, cycles] : timer->waits())
            profile.wait_cycles[name(pair.first) + "<-" +
                                (pair.second == CoreTimer::SYNC ? peer_name(pair.second)
                                                                : name(pair.second))] +=
                cycles / kind_cores[cube];
        profile.bank_conflict_cycles += timer->conflict_cycles() / cores;
        profile.core_cycles = std::max(profile.core_cycles, timer->end_time());
        sum += timer->end_time() - timer->start_time();
    }
    double slowest = 0;
    for (const auto& timer : pass.timers)
        slowest = std::max(slowest, timer->end_time() - timer->start_time());
    profile.imbalance = sum > 0 ? slowest / (sum / cores) : 1;
    profile.total_cycles = pass.total_cycles();
    profile.inserted_waits = launch().inserted_waits;
    profile.inserted_barriers = launch().inserted_barriers;
    profile.workspace_unused_bytes = unused_workspace();
    profile.tensor_write_bytes = tensor_write_bytes();
    profile.hbm_bytes = pass.memory_bytes();
    profile.first_read_bytes = pass.first_touched().read;
    profile.first_written_bytes = pass.first_touched().written;
    count_instructions(profile);
    find_lines(profile, *pass.timers.front(), *pass.timers.back());
    if (!timeline.empty()) write_timeline(timeline, pass.timers);
    return profile;
}

double cycles_with(const Constants& constants) {
    TimingPass pass(constants, false);
    pass.run();
    return pass.total_cycles();
}

}  // namespace dav
