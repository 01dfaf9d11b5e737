// Queues a copy of `src` that is turned round: with a row for each column of the tile; the rows
// lie `stride` elements apart in global memory. What short ones are gathered by stays at the end of
// `work`, for tiles of the pitch `known`.
template <typename T, typename Queue>
__aicore__ inline void GiveTurned(Queue& queue, const LocalTensor<float>& src,
                                  const LocalTensor<float>& work, uint32_t& known, uint32_t rows,
                                  uint32_t cols, uint32_t pitch, uint64_t stride) {
    const uint32_t height = RoundUp(rows, PITCH);
    if (OneRunOut<T>(rows, stride)) {
        using Bits = typename Conditional<sizeof(T) == 2, half, float>::type;
        LocalTensor<Bits> out = queue.template AllocTensor<Bits>();
        LocalTensor<Bits> from = src.template ReinterpretCast<Bits>();
        LocalTensor<float> index = work;
        if constexpr (sizeof(T) == 2) {
            index = work[height * pitch / 2];  // behind what is converted
        }
        if (known != pitch) {
            LineElements<T>(index.template ReinterpretCast<int32_t>(),
                            out.template ReinterpretCast<float>(), rows, cols, pitch);
            known = pitch;
        }
        if constexpr (sizeof(T) == 2) {
            from = work.template ReinterpretCast<Bits>();
            Cast(from.template ReinterpretCast<T>(), src, RoundMode::CAST_RINT, rows * pitch);
            PipeBarrier<PIPE_V>();
        }
        Gather(out, from, index.template ReinterpretCast<uint32_t>(), 0, rows * cols);
        queue.EnQue(out);
    } else if constexpr (IsSameType<T, float>::value) {
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
