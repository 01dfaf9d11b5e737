// dst = a op b
template <Op OP>
__aicore__ inline void Join(const LocalTensor<float>& dst, const LocalTensor<float>& a,
                            const LocalTensor<float>& b, uint32_t count) {
    if constexpr (OP == Op::ADD) {
        Add(dst, a, b, count);
    } else {
        Mul(dst, a, b, count);
    }
}
