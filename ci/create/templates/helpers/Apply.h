// dst = src0 op src1 over `repeats` repeats of the first `mask` elements.
template <Op OP>
__aicore__ inline void Apply(const LocalTensor<float>& dst, const LocalTensor<float>& src0,
                             const LocalTensor<float>& src1, uint64_t mask, uint8_t repeats,
                             const BinaryRepeatParams& params) {
    if constexpr (OP == Op::ADD) {
        Add(dst, src0, src1, mask, repeats, params);
    } else if constexpr (OP == Op::SUB) {
        Sub(dst, src0, src1, mask, repeats, params);
    } else if constexpr (OP == Op::MUL) {
        Mul(dst, src0, src1, mask, repeats, params);
    } else if constexpr (OP == Op::DIV) {
        Div(dst, src0, src1, mask, repeats, params);
    } else if constexpr (OP == Op::MAX) {
        Max(dst, src0, src1, mask, repeats, params);
    } else {
        Min(dst, src0, src1, mask, repeats, params);
    }
}
