// dst = a op b
template <Op OP>
__aicore__ inline void Combine(const LocalTensor<float>& dst, const LocalTensor<float>& a,
                               const LocalTensor<float>& b, uint32_t count) {
    if constexpr (OP == Op::ADD) {
        Add(dst, a, b, count);
    } else if constexpr (OP == Op::MUL) {
        Mul(dst, a, b, count);
    } else if constexpr (OP == Op::MAX) {
        Max(dst, a, b, count);
    } else {
        Min(dst, a, b, count);
    }
}
