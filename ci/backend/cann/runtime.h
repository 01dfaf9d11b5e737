// What both programs for a real NPU share: reading the request, device memory, writing outputs.
#pragma once

#include <acl/acl.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace npu {

inline void check(aclError error, const char* what) {
    if (error == ACL_SUCCESS) return;
    std::fprintf(stderr, "%s failed with error %d\n", what, static_cast<int>(error));
    std::_Exit(4);
}

// The words of one line of the request, which are separated by tabs.
inline std::vector<std::string> words_of(const std::string& line) {
    std::vector<std::string> words;
    std::istringstream stream(line);
    for (std::string word; std::getline(stream, word, '\t');) words.push_back(word);
    return words;
}

inline std::vector<char> read_file(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

// Allocates 32 bytes more than asked, as kernels copy whole blocks.
inline void* allocate(size_t bytes) {
    void* memory = nullptr;
    check(aclrtMalloc(&memory, bytes + 32, ACL_MEM_MALLOC_HUGE_FIRST), "aclrtMalloc");
    return memory;
}

inline void upload(void* device, const std::vector<char>& data) {
    if (data.empty()) return;
    check(aclrtMemcpy(device, data.size(), data.data(), data.size(), ACL_MEMCPY_HOST_TO_DEVICE),
          "aclrtMemcpy to the device");
}

inline void download(const std::string& path, const void* device, size_t bytes) {
    std::vector<char> data(bytes);
    if (bytes)
        check(aclrtMemcpy(data.data(), bytes, device, bytes, ACL_MEMCPY_DEVICE_TO_HOST),
              "aclrtMemcpy from the device");
    std::ofstream(path, std::ios::binary).write(data.data(), static_cast<std::streamsize>(bytes));
}

// The device and a stream on it, until the end of the program.
class Session {
public:
    explicit Session(int32_t device) : device_(device) {
        check(aclInit(nullptr), "aclInit");
        check(aclrtSetDevice(device_), "aclrtSetDevice");
        check(aclrtCreateStream(&stream_), "aclrtCreateStream");
    }
    ~Session() {
        aclrtDestroyStream(stream_);
        aclrtResetDevice(device_);
        aclFinalize();
    }
    aclrtStream stream() const { return stream_; }
    void wait() const { check(aclrtSynchronizeStream(stream_), "the kernel"); }

private:
    int32_t device_;
    aclrtStream stream_ = nullptr;
};

}  // namespace npu
