// dst[i] = the first `mask` elements of src[i * step blocks], folded.
template <Op OP>
__aicore__ inline void FoldRepeats(const LocalTensor<float>& dst, const LocalTensor<float>& src,
                                   uint64_t mask, uint32_t count, uint32_t step) {
    for (uint32_t i = 0; i < count; i += MAX_REPEATS) {
        const int32_t repeats = Least(count - i, MAX_REPEATS);
        if constexpr (OP == Op::ADD) {
            WholeReduceSum(dst[i], src[i * step * BLOCK], mask, repeats, 1, 1, step);
        } else if constexpr (OP == Op::MAX) {
            WholeReduceMax(dst[i], src[i * step * BLOCK], mask, repeats, 1, 1, step,
                           ReduceOrder::ORDER_ONLY_VALUE);
        } else {
            WholeReduceMin(dst[i], src[i * step * BLOCK], mask, repeats, 1, 1, step,
                           ReduceOrder::ORDER_ONLY_VALUE);
        }
    }
}

// dst[r] = src[r][0] op src[r][1] op …; `work` has room for a tile.
template <Op OP>
__aicore__ inline void RowFold(const LocalTensor<float>& dst, const LocalTensor<float>& src,
                               const LocalTensor<float>& work, uint32_t rows, uint32_t cols,
                               uint32_t pitch) {
    if (cols <= VECTOR) {
        FoldRepeats<OP>(dst, src, cols, rows, RoundUp(pitch, BLOCK) / BLOCK);
        return;
    }
    const uint32_t chunks = DivUp(cols, VECTOR);
    if (rows >= chunks && pitch / BLOCK <= MAX_STRIDE) {  // fold the columns onto the first 64
        const uint8_t step = pitch / BLOCK;
        for (uint32_t r = 0; r < rows; r += MAX_REPEATS) {
            const uint32_t repeats = Least(rows - r, MAX_REPEATS);
            Adds(work[r * VECTOR], src[r * pitch], 0.0f, VECTOR, repeats, {1, 1, 8, step});
            for (uint32_t c = VECTOR; c < cols; c += VECTOR) {
                PipeBarrier<PIPE_V>();
                Apply<OP>(work[r * VECTOR], work[r * VECTOR], src[r * pitch + c],
                          Least(cols - c, VECTOR), repeats, {1, 1, 1, 8, 8, step});
            }
        }
        PipeBarrier<PIPE_V>();
        FoldRepeats<OP>(dst, work, VECTOR, rows, VECTOR / BLOCK);
        return;
    }
    // Halves of each row are folded onto each other until 64 elements are left of it.
    uint32_t half = RoundUp(DivUp(cols, 2), VECTOR);
    uint32_t rest = cols - half;
    const uint32_t distance = half;
    if (rest < half) {  // what the upper half has no element for
        const uint32_t from = rest / BLOCK * BLOCK;
        for (uint32_t r = 0; r < rows; r++) {
            Adds(work[r * distance + from], src[r * pitch + from], 0.0f, half - from);
        }
        PipeBarrier<PIPE_V>();
    }
    for (uint32_t r = 0; r < rows; r++) {
        Combine<OP>(work[r * distance], src[r * pitch], src[r * pitch + half], rest);
    }
    PipeBarrier<PIPE_V>();
    while (half > VECTOR) {
        const uint32_t width = half;
        half = RoundUp(DivUp(width, 2), VECTOR);
        rest = width - half;
        for (uint32_t r = 0; r < rows; r++) {
            Combine<OP>(work[r * distance], work[r * distance], work[r * distance + half], rest);
        }
        PipeBarrier<PIPE_V>();
    }
    FoldRepeats<OP>(dst, work, VECTOR, rows, distance / BLOCK);
}
