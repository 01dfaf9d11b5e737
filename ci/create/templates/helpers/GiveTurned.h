// Queues a copy of `src` that is turned round: with a row for each column of the tile.
template <typename T, typename Queue>
__aicore__ inline void GiveTurned(Queue& queue, const LocalTensor<float>& src,
                                  const LocalTensor<float>& work, const LocalTensor<float>& index,
                                  const LocalTensor<float>& ramp, uint32_t rows, uint32_t cols,
                                  uint32_t pitch) {
    const uint32_t height = RoundUp(rows, PITCH);
    Muls(index.ReinterpretCast<int32_t>(), ramp.ReinterpretCast<int32_t>(),
         static_cast<int32_t>(pitch * sizeof(float)), rows);
    Duplicate(work, 0.0f, cols * height);
    PipeBarrier<PIPE_V>();
    for (uint32_t c = 0; c < cols; c++) {
        Gather(work[c * height], src, index.ReinterpretCast<uint32_t>(),
               static_cast<uint32_t>(c * sizeof(float)), rows);
    }
    PipeBarrier<PIPE_V>();
    Give<T>(queue, work, cols * height);
}
