// How ascendopt passes on what a program gives a kernel at its launch.
namespace ascendopt_launch {
struct Pointer {
    GM_ADDR at;
    template <class T> __aicore__ inline operator T*() const { return reinterpret_cast<T*>(at); }
};

template <class V> struct Number {
    V value;
    template <class T> __aicore__ inline operator T() const { return (T)(value); }
};

template <class T> __aicore__ inline T Read(GM_ADDR from) {
    return *reinterpret_cast<__gm__ T*>(from);
}

// Of so many bytes, or 0 where its definition gives them.
template <unsigned size> struct Structure {
    GM_ADDR at;
    template <class T> __aicore__ inline operator T() const {
        static_assert(size == 0 || sizeof(T) <= size, "launch.structs gives too few words");
        T held;
        auto* to = reinterpret_cast<uint8_t*>(&held);
        for (uint32_t i = 0; i < sizeof(T); i++) {
            to[i] = Read<uint8_t>(at + i);
        }
        return held;
    }
};
}  // namespace ascendopt_launch
