#include "core_timer.h"

#include <algorithm>

#include "constants.h"

namespace dav {

CoreTimer::CoreTimer(const Core& core, TimerWorld& world, const Constants& constants,
                     const Prices& prices, bool keep_spans)
    : core_(core), world_(world), prices_(prices), keep_spans_(keep_spans),
      by_site_kept_(core.index == 0 || &core == launch().cores.back()),
      depth_(static_cast<size_t>(constants.get("issue.queue_depth"))),
      flag_latency_(constants.get("sync.flag_latency")),
      wait_latency_(constants.get("sync.barrier_cycles")),
      completion_(core.records.size(), NOT_YET) {}

void CoreTimer::begin(double time, double fetch, double start_up) {
    begun_ = true;
    start_ = time;
    scalar_ = time + fetch + start_up;
    pipes_[S].busy += start_up;
    for (PipeState& pipe : pipes_) pipe.free = pipe.complete = pipe.busy_until = time;
}

void CoreTimer::wait(int pipe, int peer, double from, double until) {
    if (until > from) waits_[{pipe, peer}] += until - from;
}

double CoreTimer::drained() const {
    double time = scalar_;
    for (const PipeState& pipe : pipes_) time = std::max(time, pipe.complete);
    return time;
}

void CoreTimer::book(int pipe, uint32_t number, double start, double occupied, double complete) {
    PipeState& state = pipes_[pipe];
    const Record& record = core_.records[number];
    state.free = occupied;
    state.complete = std::max(state.complete, complete);
    completion_[number] = complete;
    const double fresh = complete - std::max(start, state.busy_until);
    if (fresh > 0) {
        state.busy += fresh;
        state.busy_until = complete;
        if (by_site_kept_) by_site_[record.site] += fresh;
    }
    const Price& price = prices_.pipes[record.work];
    conflict_ += price.conflict;
    if (price.bank) bank_ += price.conflict;
    if (keep_spans_) spans_.push_back({number, start, complete});
}

// When the fixpipe begins to follow a product by unit flags: with its first results, and so late
// that it does not end before the product.
double CoreTimer::followed(const Record& wait, uint32_t follower) const {
    const double complete = completion_[wait.argument];
    const Price& product = prices_.pipes[core_.records[wait.argument].work];
    const Price& output = prices_.pipes[core_.records[follower].work];
    return complete - std::min(product.occupancy, output.occupancy);
}

// The head of a pipe's queue, if what it waits for is known.
bool CoreTimer::step_pipe(int pipe) {
    PipeState& state = pipes_[pipe];
    if (state.in_flight || state.queue.empty()) return false;
    const Queued head = state.queue.front();
    const Record& record = core_.records[head.record];
    const double ready = std::max(state.free, head.issued);
    double start = ready;
    switch (record.kind) {
        case Kind::COMPUTE: {
            const Price& price = prices_.pipes[record.work];
            if (record.drain) start = std::max(start, state.complete);
            book(pipe, head.record, start, start + price.occupancy,
                 start + price.occupancy + price.latency);
            break;
        }
        case Kind::TRANSFER:
            state.in_flight = true;
            state.flight_record = head.record;
            state.flight_start = start;
            world_.start_transfer(core_.index, pipe, core_.transfers[record.argument],
                                  prices_.pipes[record.work].occupancy, start);
            break;
        case Kind::SET_FLAG:
            flags_[pipe][record.peer][record.event].push_back(
                std::max(state.complete, head.issued) + flag_latency_);
            break;
        case Kind::CORE_SET:
            world_.core_set(record.argument, std::max(state.complete, head.issued));
            break;
        case Kind::WAIT_FLAG: {
            Fifo<double>& flag = flags_[record.peer][pipe][record.event];
            if (flag.empty()) return false;
            start = std::max(ready, flag.front());
            wait(pipe, record.peer, ready, start);
            if (keep_spans_)
                links_.push_back(
                    {record.peer, pipe, record.event, flag.front() - flag_latency_, start});
            flag.pop_front();
            state.free = start;
            break;
        }
        case Kind::DEPEND: {
            double done = record.peer == S ? head.issued : completion_[record.argument];
            if (done == NOT_YET) return false;
            if (pipe == FIX && record.drain) done = followed(record, head.record + 1);
            start = std::max(ready, done + flag_latency_);
            wait(pipe, record.peer, ready, start);
            if (keep_spans_) links_.push_back({record.peer, pipe, Link::INSERTED, done, start});
            if (record.drain) {
                state.busy += start - std::max(ready, std::min(start, state.busy_until));
                state.busy_until = std::max(state.busy_until, start);
            }
            state.free = start;
            break;
        }
        case Kind::BARRIER:
            start = std::max(ready, state.complete);
            wait(pipe, pipe, ready, start);
            state.free = start + wait_latency_;
            break;
        default: break;
    }
    state.queue.pop_front();
    state.starts.push_back(start);
    if (state.starts.size() > depth_) state.starts.pop_front();
    return true;
}

// Puts a record into its pipe's queue, when there is room.
bool CoreTimer::dispatch(uint32_t number) {
    const Record& record = core_.records[number];
    PipeState& state = pipes_[record.pipe];
    if (state.queue.size() >= depth_) return false;
    // The entry that was `depth` before must have started for this one to have a place.
    const size_t ahead = depth_ - state.queue.size();
    if (state.starts.size() >= ahead && ahead > 0) {
        const double freed = state.starts[state.starts.size() - ahead];
        wait(S, record.pipe, scalar_, freed);
        scalar_ = std::max(scalar_, freed);
    }
    state.queue.push_back({number, scalar_});
    return true;
}

// The next record in program order.
bool CoreTimer::step_scalar() {
    if (ended_ || next_ >= core_.records.size()) return false;
    const Record& record = core_.records[next_];
    if (!scalar_charged_) {
        double cycles =
            prices_.scalar[record.scalar] + (record.kind == Kind::SCALAR ? 0.0f : prices_.issue);
        const std::vector<ScalarMiss>& misses = core_.scalar.misses;
        for (; next_miss_ < misses.size() && misses[next_miss_].record == next_; ++next_miss_)
            cycles += world_.fetch_line(misses[next_miss_]);
        scalar_ += cycles;
        pipes_[S].busy += cycles;
        if (by_site_kept_ && cycles > 0) by_site_[record.site] += cycles;
        scalar_charged_ = true;
    }
    const auto pipes_idle = [&] {
        for (int pipe = 0; pipe < PIPES; ++pipe)
            if (pipes_[pipe].in_flight || !pipes_[pipe].queue.empty()) return false;
        return true;
    };
    double until = scalar_;
    switch (record.kind) {
        case Kind::SCALAR: completion_[next_] = scalar_; break;
        case Kind::SET_FLAG:
            if (record.pipe != S) {
                if (!dispatch(next_)) return false;
            } else {
                flags_[S][record.peer][record.event].push_back(scalar_ + flag_latency_);
            }
            break;
        case Kind::WAIT_FLAG: {
            if (record.pipe != S) {
                if (!dispatch(next_)) return false;
                break;
            }
            Fifo<double>& flag = flags_[record.peer][S][record.event];
            if (flag.empty()) return false;
            until = flag.front();
            flag.pop_front();
            wait(S, record.peer, scalar_, until);
            if (keep_spans_)
                links_.push_back({record.peer, S, record.event, until - flag_latency_,
                                  std::max(scalar_, until)});
            break;
        }
        case Kind::DEPEND:
            if (record.pipe != S) {
                if (!dispatch(next_)) return false;
                break;
            }
            until = completion_[record.argument];
            if (until == NOT_YET) return false;
            until += flag_latency_;
            wait(S, record.peer, scalar_, until);
            break;
        case Kind::BARRIER_ALL: {
            if (!pipes_idle()) return false;
            until = drained();
            int slowest = S;
            for (int pipe = 0; pipe < PIPES; ++pipe)
                if (pipes_[pipe].complete > pipes_[slowest].complete) slowest = pipe;
            wait(S, slowest, scalar_, until);
            break;
        }
        case Kind::SYNC_ALL:
            if (!world_.sync_all(core_.index, record.argument,
                                 arrived_ ? TimerWorld::ASKED_BEFORE : scalar_, until)) {
                arrived_ = true;
                return false;
            }
            arrived_ = false;
            wait(S, SYNC, scalar_, until);
            break;
        case Kind::CORE_SET:
            if (record.pipe == S)
                world_.core_set(record.argument, scalar_);
            else if (!dispatch(next_))
                return false;
            break;
        case Kind::CORE_WAIT:
            if (!world_.core_wait(core_.index, record.argument, until)) return false;
            wait(S, SYNC, scalar_, until);
            break;
        case Kind::END:
            if (!pipes_idle()) return false;
            end_ = drained();
            ended_ = true;
            world_.block_ended(core_.index, end_);
            break;
        case Kind::BARRIER:
            if (record.pipe == S) break;
            [[fallthrough]];
        default:
            if (!dispatch(next_)) return false;
            break;
    }
    scalar_ = std::max(scalar_, until);
    scalar_charged_ = false;
    ++next_;
    return true;
}

void CoreTimer::advance() {
    bool progress = true;
    while (progress && !ended_) {
        progress = false;
        while (step_scalar()) progress = true;
        for (int pipe = 0; pipe < PIPES; ++pipe)
            while (step_pipe(pipe)) progress = true;
    }
}

void CoreTimer::transfer_delayed(int pipe, int peer, double start) {
    wait(pipe, peer, pipes_[pipe].flight_start, start);
    pipes_[pipe].flight_start = start;
}

void CoreTimer::transfer_ended(int pipe, double occupied_until, double latency) {
    PipeState& state = pipes_[pipe];
    state.in_flight = false;
    book(pipe, state.flight_record, state.flight_start, occupied_until, occupied_until + latency);
}

}  // namespace dav
