// Writes the next tensor of a queue: `rows` rows of `cols` elements, each at the beginning of a
// block and `distance` elements apart in global memory, rows `stride`.
template <typename T, typename Queue>
__aicore__ inline void CopyOutApart(Queue& queue, const GlobalTensor<T>& dst, uint32_t rows,
                                    uint32_t cols, uint64_t stride, uint64_t distance) {
    constexpr uint32_t block = BLOCK_BYTES / sizeof(T);
    LocalTensor<T> local = queue.template DeQue<T>();
    const uint32_t gap = (distance - 1) * sizeof(T);
    for (uint32_t r = 0; r < rows; r++) {
        for (uint32_t c = 0; c < cols; c += MAX_BLOCKS) {
            const uint16_t count = Least(cols - c, MAX_BLOCKS);
            const DataCopyExtParams copy{count, sizeof(T), 0, gap, 0};
            DataCopyPad(dst[r * stride + c * distance],
                        local[(r * RoundUp(cols, BLOCK) + c) * block], copy);
        }
    }
    queue.FreeTensor(local);
}
