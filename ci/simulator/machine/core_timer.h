// One core in the timing pass: the scalar unit that dispatches in order, and the pipes' queues.
//
// Everything but GM copies has a known length, so a core runs ahead on its own until it depends
// on a copy in flight or on another core; the timing pass tells it when those end.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <unordered_map>
#include <vector>

#include "machine.h"
#include "price.h"

namespace dav {

// First in, first out. A core has hundreds, nearly all of them never used: an empty one owns
// nothing.
template <typename T> class Fifo {
public:
    bool empty() const { return head_ == items_.size(); }
    size_t size() const { return items_.size() - head_; }
    const T& front() const { return items_[head_]; }
    const T& operator[](size_t i) const { return items_[head_ + i]; }
    void push_back(const T& item) { items_.push_back(item); }
    void pop_front() {
        ++head_;
        // What was taken is dropped when it is most of what is kept.
        if (head_ < items_.size() && head_ < 16 + size()) return;
        items_.erase(items_.begin(), items_.begin() + static_cast<std::ptrdiff_t>(head_));
        head_ = 0;
    }

private:
    std::vector<T> items_;
    size_t head_ = 0;
};

// What a core asks of the world outside it.
class TimerWorld {
public:
    virtual ~TimerWorld() = default;
    // A copy is ready to start at `time`, which keeps its core's side for `least` cycles at least;
    // the world calls CoreTimer::transfer_ended later.
    virtual void start_transfer(int core, int pipe, const Transfer& transfer, double least,
                                double time) = 0;
    static constexpr double ASKED_BEFORE = -1;
    // The core has come to rendezvous `number` at `time`, or ASKED_BEFORE; true with its end in
    // `release` once all have.
    virtual bool sync_all(int core, uint32_t number, double time, double& release) = 0;
    virtual void core_set(uint32_t number, double time) = 0;
    virtual bool core_wait(int core, uint32_t number, double& time) = 0;
    virtual void block_ended(int core, double time) = 0;
    // A line comes into a data cache: cycles beyond those of a line that is in L2.
    virtual double fetch_line(const ScalarMiss& miss) = 0;
};

// An instruction for the timeline.
struct Span {
    uint32_t record;
    double start;
    double end;
};

// A pipe that waited for another: a flag, or a wait that automatic sync inserted.
struct Link {
    static constexpr int INSERTED = -1;
    int from;
    int to;
    int event;  // or INSERTED: by automatic sync
    double set;
    double until;
};

class CoreTimer {
public:
    CoreTimer(const Core& core, TimerWorld& world, const Constants& constants, const Prices& prices,
              bool keep_spans);
    // The block starts: its code comes `fetch` cycles later, and then the scalar unit is at it for
    // `start_up` cycles until the first instruction.
    void begin(double time, double fetch, double start_up);
    // Runs as far as is known.
    void advance();
    // The copy in flight on `pipe` begins at `start` only, because of pipe `peer`.
    void transfer_delayed(int pipe, int peer, double start);
    void transfer_ended(int pipe, double occupied_until, double latency);
    bool ended() const { return ended_; }
    bool begun() const { return begun_; }
    bool on_cube() const { return core_.cube; }
    double start_time() const { return start_; }
    double end_time() const { return end_; }
    double busy(int pipe) const { return pipes_[pipe].busy; }
    double conflict_cycles() const { return conflict_; }
    double bank_cycles() const { return bank_; }  // of them, reads with writes in a bank
    const std::map<std::pair<int, int>, double>& waits() const { return waits_; }
    const std::unordered_map<uint32_t, double>& by_site() const { return by_site_; }
    const std::vector<Span>& spans() const { return spans_; }
    const std::vector<Link>& links() const { return links_; }

    static constexpr int SYNC = PIPES;  // "peer" of waits for other cores

private:
    static constexpr double NOT_YET = -1;  // of times: not yet known
    struct Queued {
        uint32_t record;
        double issued;
    };
    struct PipeState {
        Fifo<Queued> queue;
        Fifo<double> starts;  // of the latest entries, for the queue's depth
        double free = 0;
        double complete = 0;  // when all results so far are there
        double busy = 0;
        double busy_until = 0;
        bool in_flight = false;
        uint32_t flight_record = 0;
        double flight_start = 0;
    };

    bool step_scalar();
    bool step_pipe(int pipe);
    bool dispatch(uint32_t number);
    void book(int pipe, uint32_t record, double start, double occupied, double complete);
    void wait(int pipe, int peer, double from, double until);
    double drained() const;
    double followed(const Record& wait, uint32_t follower) const;

    const Core& core_;
    TimerWorld& world_;
    const Prices& prices_;
    bool keep_spans_;
    bool by_site_kept_;
    bool begun_ = false;
    bool ended_ = false;
    bool scalar_charged_ = false;  // the next record's scalar work is in scalar_ already
    bool arrived_ = false;         // at the rendezvous that is next
    double start_ = 0;
    double end_ = 0;
    double scalar_ = 0;
    uint32_t next_ = 1;
    size_t next_miss_ = 0;
    size_t depth_;
    double flag_latency_;
    double wait_latency_;
    PipeState pipes_[PIPES];
    Fifo<double> flags_[PIPES][PIPES][EVENTS];
    std::vector<double> completion_;  // by record, or NOT_YET
    double conflict_ = 0;
    double bank_ = 0;
    std::map<std::pair<int, int>, double> waits_;
    std::unordered_map<uint32_t, double> by_site_;
    std::vector<Span> spans_;
    std::vector<Link> links_;
};

}  // namespace dav
