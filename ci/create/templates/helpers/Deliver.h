// Queues what was computed in a place that `Claimed` gave.
template <typename T, typename Queue>
__aicore__ inline void Deliver(Queue& queue, const LocalTensor<float>& local, uint32_t count) {
    if constexpr (IsSameType<T, float>::value) {
        queue.EnQue(local);
    } else {
        LocalTensor<T> out = queue.template AllocTensor<T>();
        Cast(out, local, RoundMode::CAST_RINT, count);
        queue.EnQue(out);
    }
}
