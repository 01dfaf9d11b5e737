// Queues `cols` lines of `rows` elements of a tensor that is turned.
template <typename T, typename Queue>
__aicore__ inline void CopyInTurned(Queue& queue, const GlobalTensor<T>& src, uint32_t cols,
                                    uint32_t rows, uint64_t stride) {
    if (OneRunIn<T>(rows, stride)) {
        CopyIn(queue, src, 1, rows * cols, rows * cols);
    } else {
        CopyIn(queue, src, cols, rows, stride);
    }
}
