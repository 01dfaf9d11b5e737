// dst[r][c] = src[r][c] op wide[r], where wide has a block of 8 equal elements for each row.
// SWAPPED: wide[r] op src[r][c].
template <Op OP, bool SWAPPED = false>
__aicore__ inline void RowOp(const LocalTensor<float>& dst, const LocalTensor<float>& src,
                             const LocalTensor<float>& wide, uint32_t rows, uint32_t cols,
                             uint32_t pitch) {
    const auto apply = [](const LocalTensor<float>& to, const LocalTensor<float>& whole,
                          const LocalTensor<float>& part, uint64_t mask, uint32_t repeats,
                          uint8_t step, uint8_t partStep) {
        if constexpr (SWAPPED) {
            Apply<OP>(to, part, whole, mask, repeats, {1, 0, 1, step, partStep, step});
        } else {
            Apply<OP>(to, whole, part, mask, repeats, {1, 1, 0, step, step, partStep});
        }
    };
    const uint32_t chunks = DivUp(cols, VECTOR);
    if (rows >= chunks && pitch / BLOCK <= MAX_STRIDE) {  // all rows at once, 64 columns a call
        for (uint32_t c = 0; c < cols; c += VECTOR) {
            const uint32_t mask = Least(cols - c, VECTOR);
            for (uint32_t r = 0; r < rows; r += MAX_REPEATS) {
                apply(dst[r * pitch + c], src[r * pitch + c], wide[r * BLOCK], mask,
                      Least(rows - r, MAX_REPEATS), pitch / BLOCK, 1);
            }
        }
        return;
    }
    for (uint32_t r = 0; r < rows; r++) {
        const uint32_t whole = cols / VECTOR;
        for (uint32_t c = 0; c < whole; c += MAX_REPEATS) {
            apply(dst[r * pitch + c * VECTOR], src[r * pitch + c * VECTOR], wide[r * BLOCK], VECTOR,
                  Least(whole - c, MAX_REPEATS), BLOCK, 0);
        }
        if (cols % VECTOR != 0) {
            apply(dst[r * pitch + whole * VECTOR], src[r * pitch + whole * VECTOR], wide[r * BLOCK],
                  cols % VECTOR, 1, BLOCK, 0);
        }
    }
}
