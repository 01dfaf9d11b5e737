// dst[r] += from by the weight of row r at `place`; rows' weights are `weightRow` apart.
template <typename W>
__aicore__ inline void AddWeighted(const LocalTensor<float>& dst, const LocalTensor<float>& from,
                                   const GlobalTensor<W>& weights, uint64_t place,
                                   uint64_t weightRow, uint32_t rows, uint32_t cols,
                                   uint32_t pitch) {
    for (uint32_t r = 0; r < rows; r++) {
        const W weight = weights.GetValue(r * weightRow + place);
        if constexpr (IsSameType<W, bfloat16_t>::value) {
            Axpy(dst[r * pitch], from, ToFloat(weight), cols);
        } else {
            Axpy(dst[r * pitch], from, static_cast<float>(weight), cols);
        }
    }
}
