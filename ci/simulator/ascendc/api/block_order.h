// Blocks that take turns by their index, so that sums of floats come out the same each time.
#pragma once

#include "data_copy.h"
#include "sync.h"
#include "vector_fill.h"

namespace AscendC {

// In `gmWorkspace` and `ubWorkspace` each block has 32 bytes with the number of its latest turn;
// behind those of `ubWorkspace` stands the number of the turn to come.
constexpr int32_t TURN_WORDS = 8;

__aicore__ inline int32_t turn_words() { return int32_t(GetBlockNum()) * TURN_WORDS; }
__aicore__ inline void write_turns(const GlobalTensor<int32_t>& global,
                                   const LocalTensor<int32_t>& local, int32_t turn, int32_t words) {
    Duplicate(local, turn, words);
    pipe_barrier(PIPE_ALL);
    DataCopy(global, local, uint32_t(words));
}

__aicore__ inline void InitDetermineComputeWorkspace(GlobalTensor<int32_t>& gmWorkspace,
                                                     LocalTensor<int32_t>& ubWorkspace) {
    if (g_coreType == AIC) return;
    pipe_barrier(PIPE_ALL);
    if (GetBlockIdx() == 0) write_turns(gmWorkspace, ubWorkspace, 0, turn_words());
    ubWorkspace.SetValue(uint32_t(turn_words()), 1);
    pipe_barrier(PIPE_ALL);
}

__aicore__ inline void WaitPreBlock(GlobalTensor<int32_t>& gmWorkspace,
                                    LocalTensor<int32_t>& ubWorkspace) {
    if (g_coreType == AIC) return;
    pipe_barrier(PIPE_ALL);
    const int32_t me = int32_t(GetBlockIdx());
    const int32_t turn = ubWorkspace.GetValue(uint32_t(turn_words()));
    // The first block's first turn follows nobody's.
    if (me > 0) dav_core_wait(me - 1, BLOCK_TURN);
    if (me == 0 && turn > 1) dav_core_wait(int32_t(GetBlockNum()) - 1, BLOCK_TURN);
    // The chip reads all blocks' turns until they are as they should be; here that is once.
    DataCopy(ubWorkspace, gmWorkspace, uint32_t(turn_words()));
    pipe_barrier(PIPE_ALL);
    bool mine = true;
    for (int32_t word = 0; word < turn_words(); ++word)
        mine &= ubWorkspace.GetValue(uint32_t(word)) == (word < me * TURN_WORDS ? turn : 0);
    if (!mine)
        dav_fail(
            "WaitPreBlock would wait for ever: InitDetermineComputeWorkspace was not called "
            "first, or gmWorkspace holds something else.");
    pipe_barrier(PIPE_ALL);
}

__aicore__ inline void NotifyNextBlock(GlobalTensor<int32_t>& gmWorkspace,
                                       LocalTensor<int32_t>& ubWorkspace) {
    if (g_coreType == AIC) return;
    pipe_barrier(PIPE_ALL);
    const int32_t me = int32_t(GetBlockIdx());
    const int32_t turn = ubWorkspace.GetValue(uint32_t(turn_words()));
    const uint32_t place = uint32_t(me * TURN_WORDS);
    if (me + 1 == int32_t(GetBlockNum()))
        write_turns(gmWorkspace, ubWorkspace, 0, turn_words());
    else
        write_turns(gmWorkspace[place], ubWorkspace[place], turn, TURN_WORDS);
    pipe_barrier(PIPE_ALL);
    ubWorkspace.SetValue(uint32_t(turn_words()), turn + 1);
    dav_core_set(me, BLOCK_TURN);
}

}  // namespace AscendC
