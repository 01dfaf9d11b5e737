// A barrier between groups of vector cores: those that arrive, and those that wait for them.
#pragma once

#include "pipe.h"

namespace AscendC {

enum class PipeMode : uint8_t { SCALAR_MODE = 0, MTE3_MODE = 1, MAX };

// Of each round all `arrivals` cores must have arrived before one of the `waits` cores goes on, and
// these must have gone on before the next round's first arrival. The counts are the machine's and
// not kept in `groupWorkspace`; the last 1600 bytes of UB stay the kernel's own.
template <PipeMode mode> class GroupBarrier {
    static_assert(mode == PipeMode::MTE3_MODE, "GroupBarrier takes PipeMode::MTE3_MODE alone.");

public:
    __aicore__ inline GroupBarrier(GM_ADDR groupWorkspace, uint32_t arriveSizeIn,
                                   uint32_t waitSizeIn)
        : workspace_(groupWorkspace), arrivals_(arriveSizeIn), waits_(waitSizeIn) {
#ifdef DAV_CHECKED
        if (uint64_t(groupWorkspace) % LINE != 0)
            dav_limit("The workspace of a GroupBarrier is aligned to 512 bytes.");
#endif
    }

    __aicore__ inline void Arrive(uint32_t arriveIndex) {
        if (g_coreType == AIC) return;
        check(arriveIndex, arrivals_);
        if (round_ > 1) dav_group_wait(workspace_, WENT_ON, round_ - 1, waits_);
        signal(ARRIVED, round_, arrivals_);
        ++round_;
        arrived_ = true;
    }
    __aicore__ inline void Wait(uint32_t waitIndex) {
        if (g_coreType == AIC) return;
        check(waitIndex, waits_);
        const uint32_t round = arrived_ ? round_ - 1 : round_;
        dav_group_wait(workspace_, ARRIVED, round, arrivals_);
        signal(WENT_ON, round, waits_);
        round_ = round + 1;
        arrived_ = false;
    }
    __aicore__ inline uint64_t GetWorkspaceLen() {
        return uint64_t(arrivals_ > waits_ ? arrivals_ : waits_) * LINE;
    }

private:
    static constexpr int ARRIVED = 0, WENT_ON = 1;
    static constexpr uint64_t LINE = 512;  // of the cache: a count for each core lies in one

    GroupBarrier() = delete;
    __aicore__ inline void signal(int kind, uint32_t round, uint32_t expected) {
        const int32_t id = GetTPipePtr()->FetchEventID(HardEvent::S_MTE3);
        SetFlag<HardEvent::S_MTE3>(id);
        WaitFlag<HardEvent::S_MTE3>(id);
        dav_scalar(uint32_t(GetWorkspaceLen() / LINE));
        dav_group_set(PIPE_MTE3, workspace_, kind, round, expected);
    }
    __aicore__ inline void check(uint32_t index, uint32_t group) {
        if (index >= group)
            dav_fail("The index of a core of a GroupBarrier is below the size of its group.");
#ifdef DAV_CHECKED
        dav_sync_counts(workspace_, GetWorkspaceLen());
#endif
    }

    GM_ADDR workspace_;
    uint32_t arrivals_;
    uint32_t waits_;
    uint32_t round_ = 1;
    bool arrived_ = false;  // in this round, and not gone on yet
};

}  // namespace AscendC
