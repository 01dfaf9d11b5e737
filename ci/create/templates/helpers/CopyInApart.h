// Queues `rows` rows of `cols` single elements that lie `distance` elements apart, rows `stride`;
// in UB each element begins a block.
template <typename T, typename Queue>
__aicore__ inline void CopyInApart(Queue& queue, const GlobalTensor<T>& src, uint32_t rows,
                                   uint32_t cols, uint64_t stride, uint64_t distance) {
    constexpr uint32_t block = BLOCK_BYTES / sizeof(T);
    LocalTensor<T> local = queue.template AllocTensor<T>();
    const uint32_t gap = (distance - 1) * sizeof(T);
    for (uint32_t r = 0; r < rows; r++) {
        for (uint32_t c = 0; c < cols; c += MAX_BLOCKS) {
            const uint16_t count = Least(cols - c, MAX_BLOCKS);
            const DataCopyExtParams copy{count, sizeof(T), gap, 0, 0};
            DataCopyPad(local[(r * cols + c) * block], src[r * stride + c * distance], copy,
                        DataCopyPadExtParams<T>{false, 0, 0, 0});
        }
    }
    queue.EnQue(local);
}
