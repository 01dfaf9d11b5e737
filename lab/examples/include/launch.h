// Launches of an example's host program. `kernel<<<blocks, 0, stream>>>(arguments)` has become
// `Launch<(kernel)>::with(blocks, arguments)`. The n-th launch writes down what it was asked for,
// and what the device's memory held, and ends the program, unless the memory after that launch is
// there already: then it is read, and the program goes on. So a program is run once more than it
// launches.
#pragma once

#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <type_traits>
#include <vector>

namespace ascendopt_example {

constexpr int LAUNCHED = 77;  // exit code
constexpr int FOREIGN = 78;   // a pointer that is in no memory of the device

struct Buffer {
    uint8_t* begin;
    size_t bytes;
};
inline std::vector<Buffer> buffers;
inline int launches = 0;

inline void* new_buffer(size_t bytes) {
    auto memory = static_cast<uint8_t*>(malloc(bytes + 64));
    memset(memory, 0xFF, bytes + 64);
    buffers.push_back({memory, bytes});
    return memory;
}

inline void free_buffer(void* memory) {
    for (size_t i = 0; i < buffers.size(); i++) {
        if (buffers[i].begin == memory) {
            buffers.erase(buffers.begin() + i);
            free(memory);
            return;
        }
    }
}

inline std::string place(const char* what, size_t number) {
    return "launches/" + std::to_string(launches) + "." + what + std::to_string(number);
}

inline void must(bool done, const std::string& path) {
    if (!done) {
        fprintf(stderr, "%s cannot be read or written\n", path.c_str());
        _exit(1);
    }
}

inline void save(const std::string& path, const void* from, size_t bytes) {
    FILE* file = fopen(path.c_str(), "wb");
    must(file != nullptr && fwrite(from, 1, bytes, file) == bytes && fclose(file) == 0, path);
}

template <typename T> std::string told(const T& value) {
    std::string text = "value ";
    if constexpr (std::is_pointer_v<T>) {
        auto address = reinterpret_cast<const uint8_t*>(value);
        if (address == nullptr) {
            return "null";
        }
        for (size_t i = 0; i < buffers.size(); i++) {
            if (address >= buffers[i].begin && address < buffers[i].begin + buffers[i].bytes) {
                return "buffer " + std::to_string(i) + " " +
                       std::to_string(address - buffers[i].begin);
            }
        }
        fprintf(stderr, "a kernel gets a pointer that aclrtMalloc has not given\n");
        _exit(FOREIGN);
    } else {
        static_assert(std::is_trivially_copyable_v<T>, "a kernel's argument has to be plain data");
        auto bytes = reinterpret_cast<const uint8_t*>(&value);
        for (size_t i = 0; i < sizeof(T); i++) {
            char digits[3];
            snprintf(digits, sizeof digits, "%02x", bytes[i]);
            text += digits;
        }
    }
    return text;
}

inline void done(const std::string& asked) {
    const bool known = access(place("after", 0).c_str(), R_OK) == 0;
    for (size_t i = 0; i < buffers.size(); i++) {
        if (known) {
            FILE* file = fopen(place("after", i).c_str(), "rb");
            const size_t bytes = buffers[i].bytes;
            must(file != nullptr && fread(buffers[i].begin, 1, bytes, file) == bytes, "launches");
            fclose(file);
        } else {
            save(place("before", i), buffers[i].begin, buffers[i].bytes);
        }
    }
    if (!known) {
        save(place("asked", 0), asked.data(), asked.size());
        fflush(nullptr);
        _exit(LAUNCHED);
    }
    launches++;
}

template <auto KERNEL, typename F = decltype(KERNEL)> struct Launch;

template <auto KERNEL, typename... P> struct Launch<KERNEL, void (*)(P...)> {
    // The compiler says which instance of a template it is.
    static std::string name() {
        std::string text = __PRETTY_FUNCTION__;
        const std::string mark = "KERNEL = ";
        const size_t from = text.find(mark) + mark.size();
        const size_t to = text.find("; P = ", from);
        return text.substr(from, to - from);
    }
    static void with(uint32_t blocks, P... arguments) {
        std::string asked = name() + "\n" + std::to_string(blocks) + "\n";
        ((asked += told<P>(arguments) + "\n"), ...);
        done(asked);
    }
};

}  // namespace ascendopt_example
