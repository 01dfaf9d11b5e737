// Queues `rows` rows of `cols` elements, each at a place of its own; places are `step` elements
// apart, and where every row has places of its own, these begin `rowStep` elements behind each
// other.
template <typename T, typename Queue>
__aicore__ inline void GatherRows(Queue& queue, const GlobalTensor<T>& src,
                                  const LocalTensor<float>& places, uint64_t length, uint64_t step,
                                  uint64_t rowStep, uint32_t rows, uint32_t cols) {
    LocalTensor<T> local = queue.template AllocTensor<T>();
    const uint32_t pitch = RoundUp(cols, PITCH);
    const uint32_t rest = (pitch - cols) * sizeof(T) < BLOCK_BYTES ? pitch - cols : 0;
    const DataCopyPadExtParams<T> pad{true, 0, static_cast<uint8_t>(rest), 0};
    const DataCopyExtParams copy{1, static_cast<uint32_t>(cols * sizeof(T)), 0, 0, 0};
    AwaitVector();
    for (uint32_t r = 0; r < rows; r++) {
        DataCopyPad(local[r * pitch], src[PlaceAt(places, r, length) * step + r * rowStep], copy,
                    pad);
    }
    queue.EnQue(local);
}
