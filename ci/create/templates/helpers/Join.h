// What changes nothing when it is joined.
template <Op OP> __aicore__ inline constexpr float Neutral() {
    return OP == Op::ADD ? 0.0f : OP == Op::MUL ? 1.0f : OP == Op::MAX ? -INFINITY_F : INFINITY_F;
}

// dst = a op b
template <Op OP>
__aicore__ inline void Join(const LocalTensor<float>& dst, const LocalTensor<float>& a,
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
