// dst[r][c] = the sum of the window of column c by the weights of row r, which are `weightRow`
// apart.
template <typename T, typename W, typename Queue>
__aicore__ inline void Dots(const LocalTensor<float>& dst, Queue& queue, const GlobalTensor<T>& src,
                            const GlobalTensor<W>& weights, uint64_t weightRow,
                            const LocalTensor<float>& halo, const LocalTensor<float>& part,
                            const LocalTensor<float>& index, const LocalTensor<float>& ramp,
                            const WindowAxis& depth, const WindowAxis& down,
                            const WindowAxis& along, uint32_t rows, uint32_t cols, uint32_t pitch) {
    const uint32_t shift = RoundUp(along.Before(), BLOCK);  // where the loaded columns begin
    const uint32_t wide = RoundUp(shift + along.Span(cols), BLOCK);
    const uint32_t inside = along.Inside(cols);
    const DataCopyExtParams copy{1, static_cast<uint32_t>(inside * sizeof(T)), 0, 0, 0};
    PipeBarrier<PIPE_V>();
    Duplicate(dst, 0.0f, rows == 1 ? cols : rows * pitch);
    Muls(index.ReinterpretCast<int32_t>(), ramp.ReinterpretCast<int32_t>(),
         static_cast<int32_t>(along.step * sizeof(float)), cols);
    for (uint32_t line = 0; line < depth.size * down.size; line++) {
        const int64_t plane = depth.Begin() + line / down.size * depth.apart;
        const int64_t row = down.Begin() + line % down.size * down.apart;
        if (plane < 0 || plane >= static_cast<int64_t>(depth.length) || row < 0 ||
            row >= static_cast<int64_t>(down.length) || inside == 0) {
            continue;  // all of it is padding
        }
        LocalTensor<T> local = queue.template AllocTensor<T>();
        const uint64_t begin = along.Begin() < 0 ? 0 : along.Begin();
        DataCopyPad(local, src[(plane * down.length + row) * along.length + begin], copy,
                    DataCopyPadExtParams<T>{false, 0, 0, 0});
        queue.EnQue(local);
        local = queue.template DeQue<T>();
        PipeBarrier<PIPE_V>();
        Duplicate(halo, 0.0f, wide);
        PipeBarrier<PIPE_V>();
        if constexpr (IsSameType<T, float>::value) {
            Adds(halo[shift], local, 0.0f, inside);
        } else {
            Cast(halo[shift], local, RoundMode::CAST_NONE, inside);
        }
        queue.FreeTensor(local);
        PipeBarrier<PIPE_V>();
        for (uint32_t x = 0; x < along.size; x++) {
            const uint32_t base = (shift - along.Before() + x * along.apart) * sizeof(float);
            Gather(part, halo, index.ReinterpretCast<uint32_t>(), base, cols);
            PipeBarrier<PIPE_V>();
            AddWeighted(dst, part, weights, line * along.size + x, weightRow, rows, cols, pitch);
            PipeBarrier<PIPE_V>();
        }
    }
}
