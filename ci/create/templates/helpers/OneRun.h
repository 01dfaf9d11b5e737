// Lines of a tensor that is turned are copied together, as one run, where they lie in a row and are
// short: loads of lines that begin within blocks, where a copy reads more than their bytes, and
// stores of lines for which what they are gathered by has room.
constexpr uint32_t SHORT_IN = 64;
constexpr uint32_t SHORT_OUT = 28;

template <typename T> __aicore__ inline bool OneRunIn(uint32_t rows, uint64_t stride) {
    return (sizeof(T) == 2 || IsSameType<T, float>::value) && rows == stride && rows <= SHORT_IN &&
           rows * sizeof(T) % BLOCK_BYTES != 0;
}

template <typename T> __aicore__ inline bool OneRunOut(uint32_t rows, uint64_t stride) {
    return (sizeof(T) == 2 || IsSameType<T, float>::value) && rows == stride && rows <= SHORT_OUT;
}
