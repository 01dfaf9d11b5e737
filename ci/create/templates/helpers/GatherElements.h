// Queues `rows` rows of `cols` elements, each at a place of its own. Rows begin `pitch` elements
// behind each other; `rowStep`, `colStep`, `placeRow` and `placeCol` are the elements of `src` and
// of `places` from row to row and from column to column.
template <typename T, typename Queue>
__aicore__ inline void GatherElements(Queue& queue, const GlobalTensor<T>& src,
                                      const LocalTensor<float>& places, uint64_t length,
                                      uint64_t step, uint32_t rows, uint32_t cols, uint32_t pitch,
                                      uint64_t rowStep, uint64_t colStep, uint32_t placeRow,
                                      uint32_t placeCol) {
    LocalTensor<T> local = queue.template AllocTensor<T>();
    AwaitVector();
    for (uint32_t r = 0; r < rows; r++) {
        for (uint32_t i = 0; i < pitch; i++) {
            const uint32_t c = Least(i, cols - 1);  // the rest of the last block is like the end
            const uint64_t place = PlaceAt(places, r * placeRow + c * placeCol, length);
            local.SetValue(r * pitch + i, src.GetValue(place * step + r * rowStep + c * colStep));
        }
    }
    const event_t filled = static_cast<event_t>(GetTPipePtr()->FetchEventID(HardEvent::S_V));
    SetFlag<HardEvent::S_V>(filled);
    WaitFlag<HardEvent::S_V>(filled);
    queue.EnQue(local);
}
