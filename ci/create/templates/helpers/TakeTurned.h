// Moves the next tensor of a queue into `dst` as float and turns it round: it has a row for each
// column of the tile.
template <typename T, typename Queue>
__aicore__ inline void TakeTurned(const LocalTensor<float>& dst, Queue& queue,
                                  const LocalTensor<float>& work, const LocalTensor<float>& index,
                                  const LocalTensor<float>& ramp, uint32_t rows, uint32_t cols,
                                  uint32_t pitch) {
    const uint32_t height = RoundUp(rows, PITCH);
    Take<T>(work, queue, cols * height);
    Muls(index.ReinterpretCast<int32_t>(), ramp.ReinterpretCast<int32_t>(),
         static_cast<int32_t>(height * sizeof(float)), cols);
    if (rows > 1) {
        Duplicate(dst, 0.0f, rows * pitch);
    }
    PipeBarrier<PIPE_V>();
    for (uint32_t r = 0; r < rows; r++) {
        Gather(dst[r * pitch], work, index.ReinterpretCast<uint32_t>(),
               static_cast<uint32_t>(r * sizeof(float)), cols);
    }
}
