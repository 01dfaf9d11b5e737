// Queues rows of `turns * cols` whole numbers of eight bytes of the values in `work`, one of each
// in turn, which are gathered as float in `line`.
template <typename T, typename Queue>
__aicore__ inline void GiveTurnsWide(Queue& queue, const LocalTensor<float>& work,
                                     const LocalTensor<float>& line,
                                     const LocalTensor<float>& order, uint32_t turns, uint32_t rows,
                                     uint32_t cols, uint32_t pitch) {
    LocalTensor<T> out = queue.template AllocTensor<T>();
    const uint32_t distance = RoundUp(turns * cols, PITCH);
    PipeBarrier<PIPE_V>();
    for (uint32_t r = 0; r < rows; r++) {
        Gather(line[r * distance], work, order.ReinterpretCast<uint32_t>(),
               r * pitch * static_cast<uint32_t>(sizeof(float)), turns * cols);
    }
    PipeBarrier<PIPE_V>();
    for (uint32_t r = 0; r < rows; r++) {
        Cast(out[r * distance], line[r * distance], RoundMode::CAST_RINT, turns * cols);
    }
    queue.EnQue(out);
}
