// Gives the queue back what `Arrived` took from it.
template <typename T, typename Queue>
__aicore__ inline void Done(Queue& queue, LocalTensor<float>& local) {
    if constexpr (IsSameType<T, float>::value) {
        queue.FreeTensor(local);
    }
}
