// Moves the next tensor of a queue into `dst` as float.
template <typename T, typename Queue>
__aicore__ inline void Take(const LocalTensor<float>& dst, Queue& queue, uint32_t count) {
    LocalTensor<T> local = queue.template DeQue<T>();
    if constexpr (IsSameType<T, float>::value) {
        Muls(dst, local, 1.0f, count);
    } else if constexpr (sizeof(T) == 2 && !IsSameType<T, int16_t>::value) {
        Cast(dst, local, RoundMode::CAST_NONE, count);
    } else {
        Cast(dst, local, RoundMode::CAST_RINT, count);
    }
    queue.FreeTensor(local);
}
