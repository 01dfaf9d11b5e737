// Queues a copy of `local`, whose values are whole, in 8-bit elements, by way of half.
template <typename T, typename Queue>
__aicore__ inline void GiveByte(Queue& queue, const LocalTensor<float>& local,
                                const LocalTensor<half>& work, uint32_t count) {
    Cast(work, local, RoundMode::CAST_RINT, count);
    PipeBarrier<PIPE_V>();
    LocalTensor<T> out = queue.template AllocTensor<T>();
    Cast(out, work, RoundMode::CAST_RINT, count);
    queue.EnQue(out);
}
