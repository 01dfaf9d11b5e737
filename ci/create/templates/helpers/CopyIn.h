// Queues `rows` rows of `cols` elements that lie `stride` elements apart; in UB each begins a
// block.
template <typename T, typename Queue>
__aicore__ inline void CopyIn(Queue& queue, const GlobalTensor<T>& src, uint32_t rows,
                              uint32_t cols, uint64_t stride) {
    LocalTensor<T> local = queue.template AllocTensor<T>();
    const uint32_t pitch = RoundUp(cols, PITCH);
    const uint32_t rest = (pitch - cols) * sizeof(T) < BLOCK_BYTES ? pitch - cols : 0;
    const DataCopyPadExtParams<T> pad{true, 0, static_cast<uint8_t>(rest), 0};
    if (stride == cols && pitch == cols) {
        const DataCopyExtParams copy{1, static_cast<uint32_t>(rows * cols * sizeof(T)), 0, 0, 0};
        DataCopyPad(local, src, copy, pad);
    } else {
        const DataCopyExtParams copy{static_cast<uint16_t>(rows),
                                     static_cast<uint32_t>(cols * sizeof(T)),
                                     static_cast<uint32_t>((stride - cols) * sizeof(T)), 0, 0};
        DataCopyPad(local, src, copy, pad);
    }
    queue.EnQue(local);
}
