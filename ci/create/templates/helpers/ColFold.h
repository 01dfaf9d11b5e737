// line[c] = line[c] op src[0][c] op src[1][c] …
template <Op OP>
__aicore__ inline void ColFold(const LocalTensor<float>& line, const LocalTensor<float>& src,
                               uint32_t rows, uint32_t cols, uint32_t pitch) {
    const uint32_t whole = cols / VECTOR;
    for (uint32_t r = 0; r < rows; r++) {
        for (uint32_t c = 0; c < whole; c += MAX_REPEATS) {
            Apply<OP>(line[c * VECTOR], line[c * VECTOR], src[r * pitch + c * VECTOR], VECTOR,
                      Least(whole - c, MAX_REPEATS), {1, 1, 1, BLOCK, BLOCK, BLOCK});
        }
        if (cols % VECTOR != 0) {
            Apply<OP>(line[whole * VECTOR], line[whole * VECTOR], src[r * pitch + whole * VECTOR],
                      cols % VECTOR, 1, {1, 1, 1, BLOCK, BLOCK, BLOCK});
        }
        PipeBarrier<PIPE_V>();
    }
}
