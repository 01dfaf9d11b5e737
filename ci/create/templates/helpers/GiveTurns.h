// Values whose elements take turns lie so many elements apart in `work`.
__aicore__ inline uint32_t Apart(const LocalTensor<float>& work, uint32_t turns) {
    return work.GetSize() / turns / VECTOR * VECTOR;
}

// What `GiveTurns` gathers a row by.
template <typename T>
__aicore__ inline void TurnOrder(const LocalTensor<float>& order, const LocalTensor<float>& work,
                                 uint32_t turns) {
    LineElements<T>(order.ReinterpretCast<int32_t>(), work, turns, order.GetSize() / turns,
                    Apart(work, turns));
}

// Brings a value beside those that it takes turns with.
template <typename T>
__aicore__ inline void Beside(const LocalTensor<float>& work, const LocalTensor<float>& value,
                              uint32_t turn, uint32_t turns, uint32_t count) {
    const LocalTensor<T> own = work.template ReinterpretCast<T>()[turn * Apart(work, turns)];
    if constexpr (IsSameType<T, float>::value) {
        Muls(own, value, 1.0f, count);
    } else {
        Cast(own, value, RoundMode::CAST_RINT, count);
    }
}

// Queues rows of `turns * cols` elements of the values in `work`, one of each in turn.
template <typename T, typename Queue>
__aicore__ inline void GiveTurns(Queue& queue, const LocalTensor<float>& work,
                                 const LocalTensor<float>& order, uint32_t turns, uint32_t rows,
                                 uint32_t cols, uint32_t pitch) {
    using Bits = typename Conditional<sizeof(T) == 2, half, float>::type;
    LocalTensor<Bits> out = queue.template AllocTensor<Bits>();
    const uint32_t distance = RoundUp(turns * cols, PITCH);
    PipeBarrier<PIPE_V>();
    const bool even = cols == pitch && distance == turns * cols;  // all rows are one
    const uint32_t each = even ? order.GetSize() / distance : 1;
    for (uint32_t r = 0; r < rows; r += each) {
        Gather(out[r * distance], work.template ReinterpretCast<Bits>(),
               order.ReinterpretCast<uint32_t>(), r * pitch * sizeof(T),
               Least(each, rows - r) * turns * cols);
    }
    queue.EnQue(out);
}
