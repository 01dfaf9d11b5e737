// Writes the next tensor of a queue: `rows` rows of `cols` elements, `stride` elements apart.
template <typename T, typename Queue>
__aicore__ inline void CopyOut(Queue& queue, const GlobalTensor<T>& dst, uint32_t rows,
                               uint32_t cols, uint64_t stride) {
    LocalTensor<T> local = queue.template DeQue<T>();
    constexpr uint32_t block = BLOCK_BYTES / sizeof(T);
    const uint32_t pitch = RoundUp(cols, PITCH);
    if (stride == cols && pitch == cols) {
        const DataCopyExtParams copy{1, static_cast<uint32_t>(rows * cols * sizeof(T)), 0, 0, 0};
        DataCopyPad(dst, local, copy);
    } else {
        const DataCopyExtParams copy{static_cast<uint16_t>(rows),
                                     static_cast<uint32_t>(cols * sizeof(T)),
                                     (pitch - RoundUp(cols, block)) / block,
                                     static_cast<uint32_t>((stride - cols) * sizeof(T)), 0};
        DataCopyPad(dst, local, copy);
    }
    queue.FreeTensor(local);
}
