// index[i] = i * step: in bytes, where elements lie that are `step` apart.
template <typename T>
__aicore__ inline void Multiples(const LocalTensor<float>& index, uint32_t step) {
    const LocalTensor<int32_t> found = index.ReinterpretCast<int32_t>();
    CreateVecIndex(found, static_cast<int32_t>(0), index.GetSize());
    PipeBarrier<PIPE_V>();
    Muls(found, found, static_cast<int32_t>(step * sizeof(T)), index.GetSize());
    PipeBarrier<PIPE_V>();
}
