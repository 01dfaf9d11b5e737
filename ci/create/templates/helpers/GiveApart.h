// Queues `rows` rows of `cols` elements in the dtype of the tensor, each in a block of its own;
// rows of `local` begin `pitch` elements behind each other.
template <typename T, typename Queue>
__aicore__ inline void GiveApart(Queue& queue, const LocalTensor<float>& local,
                                 const LocalTensor<float>& work, uint32_t rows, uint32_t cols,
                                 uint32_t pitch) {
    using Bits = typename Conditional<sizeof(T) == 2, half, float>::type;
    constexpr uint32_t most = MAX_REPEATS / 2 * 2;  // so that elements of two bytes begin a block
    constexpr uint32_t block = BLOCK_BYTES / sizeof(T);
    LocalTensor<Bits> out = queue.template AllocTensor<T>().template ReinterpretCast<Bits>();
    LocalTensor<Bits> from = local.template ReinterpretCast<Bits>();
    if constexpr (!IsSameType<T, float>::value) {
        from = work.template ReinterpretCast<Bits>();
        Cast(from.template ReinterpretCast<T>(), local, RoundMode::CAST_RINT, rows * pitch);
        PipeBarrier<PIPE_V>();
    }
    const uint32_t eights = DivUp(cols, BLOCK);
    for (uint32_t r = 0; r < rows; r++) {
        for (uint32_t i = 0; i < eights; i += most) {
            Brcb(out[(r * eights + i) * BLOCK * block], from[r * pitch + i * BLOCK],
                 Least(eights - i, most), {1, 8});
        }
    }
    queue.EnQue(out);
}
