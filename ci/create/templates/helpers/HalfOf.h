// Half of each row of src as float: `cols` elements from where src begins.
template <typename T>
__aicore__ inline LocalTensor<float> HalfOf(const LocalTensor<float>& slot,
                                            const LocalTensor<T>& src, uint32_t rows,
                                            uint32_t cols) {
    if constexpr (sizeof(T) == 2) {
        const uint8_t step = cols / BLOCK;  // as many blocks as a whole row has in T
        for (uint32_t c = 0; c < cols; c += VECTOR) {
            const uint64_t mask = Least(cols - c, VECTOR);
            for (uint32_t r = 0; r < rows; r += MAX_REPEATS) {
                Cast(slot[r * cols + c], src[2 * r * cols + c], RoundMode::CAST_NONE, mask,
                     static_cast<uint8_t>(Least(rows - r, MAX_REPEATS)), {1, 1, step, step});
            }
        }
    }
    return slot;
}
