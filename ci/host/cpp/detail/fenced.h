// Memory that ends where nothing can be read: what a host side takes from behind it ends in a
// signal at that line, not in whatever the heap holds there.
#pragma once

#include <cstddef>
#include <new>

#include <sys/mman.h>
#include <unistd.h>

namespace gert {
// An allocator for vectors that are filled at once, by `assign`: those have no room to spare.
template <class T> struct Fenced {
    using value_type = T;

    Fenced() = default;
    template <class U> Fenced(const Fenced<U>&) {}

    T* allocate(size_t count) {
        const size_t page = page_bytes(), held = held_bytes(count);
        void* first =
            mmap(nullptr, held + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (first == MAP_FAILED) throw std::bad_alloc();
        mprotect(static_cast<std::byte*>(first) + held, page, PROT_NONE);
        return reinterpret_cast<T*>(static_cast<std::byte*>(first) + held) - count;
    }

    void deallocate(T* place, size_t count) {
        std::byte* fence = reinterpret_cast<std::byte*>(place + count);
        munmap(fence - held_bytes(count), held_bytes(count) + page_bytes());
    }

    template <class U> bool operator==(const Fenced<U>&) const { return true; }
    template <class U> bool operator!=(const Fenced<U>&) const { return false; }

private:
    static size_t page_bytes() { return static_cast<size_t>(sysconf(_SC_PAGESIZE)); }
    static size_t held_bytes(size_t count) {
        return (count * sizeof(T) + page_bytes() - 1) / page_bytes() * page_bytes();
    }
};
}  // namespace gert
