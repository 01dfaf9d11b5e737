// Eight equal elements in wide for each of the first `count` elements of src.
__aicore__ inline void Spread(const LocalTensor<float>& wide, const LocalTensor<float>& src,
                              uint32_t count) {
    const uint32_t blocks = DivUp(count, BLOCK);
    for (uint32_t i = 0; i < blocks; i += MAX_REPEATS) {
        Brcb(wide[i * BLOCK * BLOCK], src[i * BLOCK], Least(blocks - i, MAX_REPEATS), {1, 8});
    }
}
