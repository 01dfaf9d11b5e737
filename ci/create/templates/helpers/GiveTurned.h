// Queues a copy of `src` that is turned round: with a row for each column of the tile.
template <typename T, typename Queue>
__aicore__ inline void GiveTurned(Queue& queue, const LocalTensor<float>& src,
                                  const LocalTensor<float>& work, uint32_t rows, uint32_t cols,
                                  uint32_t pitch) {
    const uint32_t height = RoundUp(rows, PITCH);
    if constexpr (IsSameType<T, float>::value) {
        LocalTensor<T> out = queue.template AllocTensor<T>();
        Turn<T>(out, src, rows, cols, pitch, height);
        queue.EnQue(out);
    } else if constexpr (sizeof(T) == 2) {
        LocalTensor<T> narrow = work.template ReinterpretCast<T>();
        Cast(narrow, src, RoundMode::CAST_RINT, rows * pitch);
        LocalTensor<T> out = queue.template AllocTensor<T>();
        PipeBarrier<PIPE_V>();
        Turn<half>(out.template ReinterpretCast<half>(), narrow.template ReinterpretCast<half>(),
                   rows, cols, pitch, height);  // their bits, whatever they mean
        queue.EnQue(out);
    } else {
        Turn<float>(work, src, rows, cols, pitch, height);
        PipeBarrier<PIPE_V>();
        Give<T>(queue, work, cols * height);
    }
}
