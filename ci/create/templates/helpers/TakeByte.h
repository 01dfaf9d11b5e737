// Moves the next tensor of a queue, of 8-bit elements, into `dst` as float, by way of half.
template <typename T, typename Queue>
__aicore__ inline void TakeByte(const LocalTensor<float>& dst, Queue& queue,
                                const LocalTensor<half>& work, uint32_t count) {
    LocalTensor<T> local = queue.template DeQue<T>();
    Cast(work, local, RoundMode::CAST_NONE, count);
    PipeBarrier<PIPE_V>();
    Cast(dst, work, RoundMode::CAST_NONE, count);
    queue.FreeTensor(local);
}
