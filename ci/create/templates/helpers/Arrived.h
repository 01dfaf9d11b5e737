// The next tensor of a queue as float: itself, or converted into `slot`.
template <typename T, typename Queue>
__aicore__ inline LocalTensor<float> Arrived(Queue& queue, const LocalTensor<float>& slot,
                                             uint32_t count) {
    LocalTensor<T> local = queue.template DeQue<T>();
    if constexpr (IsSameType<T, float>::value) {
        return local;
    } else {
        Cast(slot, local, RoundMode::CAST_NONE, count);
        queue.FreeTensor(local);
        return slot;
    }
}
