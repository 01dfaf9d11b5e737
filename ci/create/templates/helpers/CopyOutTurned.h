// Writes the next tensor of a queue: `cols` lines of `rows` elements of a tensor that is turned.
template <typename T, typename Queue>
__aicore__ inline void CopyOutTurned(Queue& queue, const GlobalTensor<T>& dst, uint32_t cols,
                                     uint32_t rows, uint64_t stride) {
    if (OneRunOut<T>(rows, stride)) {
        CopyOut(queue, dst, 1, rows * cols, rows * cols);
    } else {
        CopyOut(queue, dst, cols, rows, stride);
    }
}
