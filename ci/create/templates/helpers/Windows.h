// dst[r][c] = the fold of the window of output (r, c) over depth, rows and columns of src.
template <typename T, Op OP, typename Queue>
__aicore__ inline void Windows(const LocalTensor<float>& dst, Queue& queue,
                               const GlobalTensor<T>& src, const LocalTensor<float>& halo,
                               const LocalTensor<float>& lines, const LocalTensor<float>& part,
                               const LocalTensor<float>& index, const LocalTensor<float>& ramp,
                               float neutral, const WindowAxis& depth, const WindowAxis& down,
                               const WindowAxis& along, uint32_t rows, uint32_t cols,
                               uint32_t pitch) {
    const uint32_t high = down.Span(rows);
    const uint32_t shift = RoundUp(along.Before(), BLOCK);  // where the loaded columns begin
    const uint32_t wide = RoundUp(shift + along.Span(cols), BLOCK);
    const uint32_t inside = along.Inside(cols);
    const uint32_t height = down.Inside(rows);
    const uint32_t localPitch = RoundUp(inside, BLOCK_BYTES / sizeof(T));
    PipeBarrier<PIPE_V>();
    Duplicate(dst, neutral, rows == 1 ? cols : rows * pitch);
    Duplicate(lines, neutral, rows * wide);
    Muls(index.ReinterpretCast<int32_t>(), ramp.ReinterpretCast<int32_t>(),
         static_cast<int32_t>(along.step * sizeof(float)), cols);
    for (uint32_t z = 0; z < depth.size; z++) {
        const int64_t plane = depth.Begin() + z;
        if (plane < 0 || plane >= static_cast<int64_t>(depth.length) || inside == 0 ||
            height == 0) {
            continue;  // all of it is padding
        }
        LocalTensor<T> local = queue.template AllocTensor<T>();
        const uint64_t row = plane * down.length + (down.Begin() < 0 ? 0 : down.Begin());
        const uint64_t at = row * along.length + (along.Begin() < 0 ? 0 : along.Begin());
        const DataCopyExtParams copy{
            static_cast<uint16_t>(height), static_cast<uint32_t>(inside * sizeof(T)),
            static_cast<uint32_t>((along.length - inside) * sizeof(T)), 0, 0};
        DataCopyPad(local, src[at], copy, DataCopyPadExtParams<T>{false, 0, 0, 0});
        queue.EnQue(local);
        local = queue.template DeQue<T>();
        PipeBarrier<PIPE_V>();
        Duplicate(halo, neutral, high * wide);
        PipeBarrier<PIPE_V>();
        for (uint32_t r = 0; r < height; r++) {
            const uint32_t to = (down.Before() + r) * wide + shift;
            if constexpr (IsSameType<T, float>::value) {
                Adds(halo[to], local[r * localPitch], 0.0f, inside);
            } else {
                Cast(halo[to], local[r * localPitch], RoundMode::CAST_NONE, inside);
            }
        }
        queue.FreeTensor(local);
        PipeBarrier<PIPE_V>();
        for (uint32_t y = 0; y < down.size; y++) {
            for (uint32_t r = 0; r < rows; r++) {
                Fold<OP>(lines[r * wide], halo[(r * down.step + y) * wide], wide);
            }
            PipeBarrier<PIPE_V>();
        }
    }
    for (uint32_t r = 0; r < rows; r++) {
        for (uint32_t x = 0; x < along.size; x++) {
            const uint32_t base = (r * wide + shift - along.Before() + x) * sizeof(float);
            Gather(part, lines, index.ReinterpretCast<uint32_t>(), base, cols);
            PipeBarrier<PIPE_V>();
            Fold<OP>(dst[r * pitch], part, cols);
            PipeBarrier<PIPE_V>();
        }
    }
}
