// The largest whole number that is no larger than a / b.
__aicore__ inline int64_t Below(int64_t a, int64_t b) {
    return a >= 0 ? a / b : -((b - 1 - a) / b);
}

// dst[r][c] = the sum over all windows that column c is in, of the element that each belongs to by
// the weight of row r at that place; rows' weights are `weightRow` apart.
template <typename T, typename W, typename Queue>
__aicore__ inline void Undots(const LocalTensor<float>& dst, Queue& queue,
                              const GlobalTensor<T>& src, const GlobalTensor<W>& weights,
                              uint64_t weightRow, const LocalTensor<float>& halo,
                              const LocalTensor<float>& part, const LocalTensor<float>& index,
                              const LocalTensor<float>& ramp, const LocalTensor<float>& hit,
                              const WindowAxis& depth, const WindowAxis& down,
                              const WindowAxis& along, uint32_t rows, uint32_t cols,
                              uint32_t pitch) {
    const auto place = index.ReinterpretCast<int32_t>();
    const auto count = ramp.ReinterpretCast<int32_t>();
    const int64_t first = along.first + along.pad;
    const int64_t low = Below(first - (along.size - 1) * along.apart, along.step);
    const int64_t high = Below(first + cols - 1, along.step);
    const int64_t begin = low < 0 ? 0 : low;
    const int64_t length = along.length;
    const int64_t end = high < length ? high + 1 : length;
    const uint32_t inside = end > begin ? end - begin : 0;
    const uint32_t shift = RoundUp(static_cast<uint32_t>(begin - low), BLOCK);
    const uint32_t nothing = RoundUp(static_cast<uint32_t>(shift + high - begin + 1), BLOCK);
    const DataCopyExtParams copy{1, static_cast<uint32_t>(inside * sizeof(T)), 0, 0, 0};
    PipeBarrier<PIPE_V>();
    Duplicate(dst, 0.0f, rows == 1 ? cols : rows * pitch);
    for (uint32_t line = 0; line < depth.size * down.size; line++) {
        const int64_t far = depth.first + depth.pad - line / down.size * depth.apart;
        const int64_t deep = down.first + down.pad - line % down.size * down.apart;
        const int64_t plane = Below(far, depth.step);
        const int64_t row = Below(deep, down.step);
        if (plane * depth.step != far || row * down.step != deep || plane < 0 || row < 0 ||
            plane >= static_cast<int64_t>(depth.length) ||
            row >= static_cast<int64_t>(down.length) || inside == 0) {
            continue;  // no window there
        }
        LocalTensor<T> local = queue.template AllocTensor<T>();
        DataCopyPad(local, src[(plane * down.length + row) * along.length + begin], copy,
                    DataCopyPadExtParams<T>{false, 0, 0, 0});
        queue.EnQue(local);
        local = queue.template DeQue<T>();
        PipeBarrier<PIPE_V>();
        Duplicate(halo, 0.0f, nothing + BLOCK);
        PipeBarrier<PIPE_V>();
        if constexpr (IsSameType<T, float>::value) {
            Adds(halo[shift], local, 0.0f, inside);
        } else {
            Cast(halo[shift], local, RoundMode::CAST_NONE, inside);
        }
        queue.FreeTensor(local);
        for (uint32_t x = 0; x < along.size; x++) {
            // Column c takes element (rest + c) / step of what begins at `from`, if that is whole.
            const int64_t from = Below(first - x * along.apart, along.step);
            const float rest = first - x * along.apart - from * along.step;
            const uint32_t base = shift + from - begin;
            PipeBarrier<PIPE_V>();
            if (along.step == 1) {
                Muls(place, count, static_cast<int32_t>(sizeof(float)), cols);
            } else {
                const float step = along.step;
                const float none = nothing - base;
                Cast(hit, count, RoundMode::CAST_NONE, cols);
                PipeBarrier<PIPE_V>();
                Adds(hit, hit, rest, cols);
                PipeBarrier<PIPE_V>();
                Adds(part, hit, 0.5f, cols);
                PipeBarrier<PIPE_V>();
                Muls(part, part, 1.0f / step, cols);
                PipeBarrier<PIPE_V>();
                Cast(place, part, RoundMode::CAST_FLOOR, cols);
                PipeBarrier<PIPE_V>();
                Cast(part, place, RoundMode::CAST_NONE, cols);
                PipeBarrier<PIPE_V>();
                Axpy(hit, part, -step, cols);  // what is left over
                PipeBarrier<PIPE_V>();
                Mins(hit, hit, 1.0f, cols);
                Adds(part, part, -none, cols);
                PipeBarrier<PIPE_V>();
                Muls(hit, hit, -1.0f, cols);
                PipeBarrier<PIPE_V>();
                Adds(hit, hit, 1.0f, cols);
                PipeBarrier<PIPE_V>();
                Mul(part, part, hit, cols);
                PipeBarrier<PIPE_V>();
                Adds(part, part, none, cols);  // the zeros behind the row for the others
                PipeBarrier<PIPE_V>();
                Cast(place, part, RoundMode::CAST_RINT, cols);
                PipeBarrier<PIPE_V>();
                Muls(place, place, static_cast<int32_t>(sizeof(float)), cols);
            }
            PipeBarrier<PIPE_V>();
            Gather(part, halo, index.ReinterpretCast<uint32_t>(), base * sizeof(float), cols);
            PipeBarrier<PIPE_V>();
            AddWeighted(dst, part, weights, line * along.size + x, weightRow, rows, cols, pitch);
        }
        PipeBarrier<PIPE_V>();
    }
}
