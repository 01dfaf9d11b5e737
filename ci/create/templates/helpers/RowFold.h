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
    uint32_t width = cols;  // 64 elements of a row become one, until a row is one
    uint32_t distance = pitch;
    uint32_t at = 0;
    LocalTensor<float> from = src;
    while (width > VECTOR) {
        const uint32_t whole = width / VECTOR;
        const uint32_t next = DivUp(width, VECTOR);
        const uint32_t nextDistance = RoundUp(next, BLOCK);
        for (uint32_t r = 0; r < rows; r++) {
            FoldRepeats<OP>(work[at + r * nextDistance], from[r * distance], VECTOR, whole,
                            VECTOR / BLOCK);
            if (width % VECTOR != 0) {
                FoldRepeats<OP>(work[at + r * nextDistance + whole],
                                from[r * distance + whole * VECTOR], width % VECTOR, 1, 1);
            }
        }
        PipeBarrier<PIPE_V>();
        from = work[at];
        at += rows * nextDistance;
        width = next;
        distance = nextDistance;
    }
    FoldRepeats<OP>(dst, from, width, rows, distance / BLOCK);
}
