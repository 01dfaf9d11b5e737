// A window along one axis of the input; `first` is the output's element that a tile begins with.
struct WindowAxis {
    uint32_t size;
    uint32_t step;
    uint32_t pad;
    uint64_t first;
    uint64_t length;     // of the input
    uint32_t apart = 1;  // neighbours in a window

    // The input's elements that `count` outputs see: from `begin` (in the padding if negative).
    __aicore__ inline int64_t Begin() const { return static_cast<int64_t>(first * step) - pad; }
    __aicore__ inline uint32_t Span(uint32_t count) const {
        return (count - 1) * step + (size - 1) * apart + 1;
    }
    __aicore__ inline uint32_t Before() const { return Begin() < 0 ? -Begin() : 0; }
    __aicore__ inline uint32_t Inside(uint32_t count) const {
        const int64_t end = Begin() + Span(count);
        const int64_t last = end < static_cast<int64_t>(length) ? end : length;
        const int64_t begin = Begin() < 0 ? 0 : Begin();
        return last > begin ? last - begin : 0;
    }
};
