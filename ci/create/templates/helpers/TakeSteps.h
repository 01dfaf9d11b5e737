// Gathers elements of a run into `dst` as float, `step` apart and from the one numbered `begin` of
// each row on; rows reach `more` elements beyond the last that is `step` apart from the first.
// `index` says where elements lie. Elements of two bytes are gathered in `work`.
template <typename T>
__aicore__ inline void TakeSteps(const LocalTensor<float>& dst, const LocalTensor<T>& run,
                                 const LocalTensor<float>& work, const LocalTensor<float>& index,
                                 uint32_t step, uint32_t begin, uint32_t more, uint32_t rows,
                                 uint32_t cols, uint32_t pitch) {
    static_assert(sizeof(T) == 4 || sizeof(T) == 2, "others are not gathered");
    using Bits = typename Conditional<sizeof(T) == 2, half, float>::type;
    LocalTensor<Bits> from = run.template ReinterpretCast<Bits>();
    LocalTensor<Bits> found = (sizeof(T) == 2 ? work : dst).template ReinterpretCast<Bits>();
    const uint32_t distance = RoundUp((cols - 1) * step + 1 + more, BLOCK_BYTES / sizeof(T));
    if (cols != pitch) {
        Duplicate(found, static_cast<Bits>(0), rows * pitch);
        PipeBarrier<PIPE_V>();
    }
    const bool even = cols == pitch && distance == cols * step;  // all rows are one
    const uint32_t each = even ? index.GetSize() / cols : 1;
    for (uint32_t r = 0; r < rows; r += each) {
        Gather(found[r * pitch], from, index.ReinterpretCast<uint32_t>(),
               (r * distance + begin) * sizeof(T), Least(each, rows - r) * cols);
    }
    if constexpr (!IsSameType<T, float>::value) {
        constexpr bool whole = IsSameType<T, int16_t>::value || IsSameType<T, int32_t>::value;
        PipeBarrier<PIPE_V>();
        Cast(dst, found.template ReinterpretCast<T>(),
             whole ? RoundMode::CAST_RINT : RoundMode::CAST_NONE, rows * pitch);
    }
}
