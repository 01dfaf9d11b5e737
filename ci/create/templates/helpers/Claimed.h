// Where to compute what is copied out: right in the queue's buffer, or in `slot` to be converted.
template <typename T, typename Queue>
__aicore__ inline LocalTensor<float> Claimed(Queue& queue, const LocalTensor<float>& slot) {
    if constexpr (IsSameType<T, float>::value) {
        return queue.template AllocTensor<T>();
    } else {
        return slot;
    }
}
