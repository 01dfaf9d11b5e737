// Moves the next tensor of a queue, which has a row for each column of the tile, into `dst` as
// float and turned round.
template <typename T, typename Queue>
__aicore__ inline void TakeTurned(const LocalTensor<float>& dst, Queue& queue,
                                  const LocalTensor<float>& work, uint32_t rows, uint32_t cols,
                                  uint32_t pitch) {
    const uint32_t height = RoundUp(rows, PITCH);
    if constexpr (IsSameType<T, float>::value) {
        LocalTensor<T> local = queue.template DeQue<T>();
        Turn<T>(dst, local, cols, rows, height, pitch);
        queue.FreeTensor(local);
    } else if constexpr (sizeof(T) == 2) {
        LocalTensor<T> local = queue.template DeQue<T>();
        LocalTensor<T> turned = work.template ReinterpretCast<T>();
        Turn<half>(turned.template ReinterpretCast<half>(), local.template ReinterpretCast<half>(),
                   cols, rows, height, pitch);  // their bits, whatever they mean
        queue.FreeTensor(local);
        PipeBarrier<PIPE_V>();
        if constexpr (IsSameType<T, int16_t>::value) {
            Cast(dst, turned, RoundMode::CAST_RINT, rows * pitch);
        } else {
            Cast(dst, turned, RoundMode::CAST_NONE, rows * pitch);
        }
    } else {
        Take<T>(work, queue, cols * height);
        PipeBarrier<PIPE_V>();
        Turn<float>(dst, work, cols, rows, height, pitch);
    }
}
