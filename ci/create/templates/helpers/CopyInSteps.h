// Queues what lies from the first to the last of `cols` elements, `step` apart, of `rows` rows, and
// `more` elements behind.
template <typename T, typename Queue>
__aicore__ inline void CopyInSteps(Queue& queue, const GlobalTensor<T>& src, uint32_t step,
                                   uint32_t more, uint32_t rows, uint32_t cols, uint64_t stride) {
    LocalTensor<T> local = queue.template AllocTensor<T>();
    const uint32_t span = (cols - 1) * step + 1 + more;
    const uint64_t gap = rows == 1 ? 0 : stride - span;
    const DataCopyExtParams copy{static_cast<uint16_t>(rows),
                                 static_cast<uint32_t>(span * sizeof(T)),
                                 static_cast<uint32_t>(gap * sizeof(T)), 0, 0};
    DataCopyPad(local, src, copy, DataCopyPadExtParams<T>{false, 0, 0, 0});
    queue.EnQue(local);
}
