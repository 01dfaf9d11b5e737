// Turns lines round that lie in a row: dst[r][c] = src[c * rows + r].
template <typename T>
__aicore__ inline void GatherLines(const LocalTensor<T>& dst, const LocalTensor<T>& src,
                                   const LocalTensor<float>& starts, uint32_t rows, uint32_t cols,
                                   uint32_t pitch) {
    if (cols != pitch) {
        Duplicate(dst, static_cast<T>(0), rows * pitch);
        PipeBarrier<PIPE_V>();
    }
    for (uint32_t r = 0; r < rows; r++) {
        Gather(dst[r * pitch], src, starts.ReinterpretCast<uint32_t>(), r * sizeof(T), cols);
    }
}

// Moves the next tensor of a queue, which has a row for each column of the tile, into `dst` as
// float and turned round; the rows lie `stride` elements apart in global memory.
template <typename T, typename Queue>
__aicore__ inline void TakeTurned(const LocalTensor<float>& dst, Queue& queue,
                                  const LocalTensor<float>& work, const LocalTensor<float>& starts,
                                  uint32_t rows, uint32_t cols, uint32_t pitch, uint64_t stride) {
    const uint32_t height = RoundUp(rows, PITCH);
    if constexpr (IsSameType<T, float>::value) {
        LocalTensor<T> local = queue.template DeQue<T>();
        if (OneRunIn<T>(rows, stride)) {
            GatherLines<T>(dst, local, starts, rows, cols, pitch);
        } else {
            Turn<T>(dst, local, cols, rows, height, pitch);
        }
        queue.FreeTensor(local);
    } else if constexpr (sizeof(T) == 2) {
        LocalTensor<half> local = queue.template DeQue<half>();  // its bits, whatever they mean
        LocalTensor<half> turned = work.template ReinterpretCast<half>();
        if (OneRunIn<T>(rows, stride)) {
            GatherLines<half>(turned, local, starts, rows, cols, pitch);
        } else {
            Turn<half>(turned, local, cols, rows, height, pitch);
        }
        queue.FreeTensor(local);
        PipeBarrier<PIPE_V>();
        constexpr RoundMode mode =
            IsSameType<T, int16_t>::value ? RoundMode::CAST_RINT : RoundMode::CAST_NONE;
        Cast(dst, turned.template ReinterpretCast<T>(), mode, rows * pitch);
    } else {
        Take<T>(work, queue, cols * height);
        PipeBarrier<PIPE_V>();
        Turn<float>(dst, work, cols, rows, height, pitch);
    }
}
