// Queues a copy of `local` in the dtype of the tensor.
template <typename T, typename Queue>
__aicore__ inline void Give(Queue& queue, const LocalTensor<float>& local, uint32_t count) {
    LocalTensor<T> out = queue.template AllocTensor<T>();
    if constexpr (IsSameType<T, float>::value) {
        Muls(out, local, 1.0f, count);
    } else {
        Cast(out, local, RoundMode::CAST_RINT, count);
    }
    queue.EnQue(out);
}
