// to = to op from
template <Op OP>
__aicore__ inline void Fold(const LocalTensor<float>& to, const LocalTensor<float>& from,
                            uint32_t count) {
    if constexpr (OP == Op::ADD) {
        Add(to, to, from, count);
    } else {
        Max(to, to, from, count);
    }
}
