// Host side of a launch on a real NPU: reads the request, moves tensors, launches, writes outputs.
// Compiled together with the kernel by bisheng; the generated unit defines `launch_kernel`.
#pragma once

#include <acl/acl.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

void launch_kernel(uint32_t block_dim, void* stream, uint8_t** arguments);

namespace launcher {

struct Tensor {
    std::string role, file;
    size_t bytes = 0;
    size_t alias = 0;
    void* device = nullptr;
};

inline void check(aclError error, const char* what) {
    if (error == ACL_SUCCESS) return;
    std::fprintf(stderr, "%s failed with error %d\n", what, static_cast<int>(error));
    std::_Exit(4);
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

// Lines: `block_dim n`, `repeat n`, `workspace bytes`, `tiling file`, and for each tensor
// `input file bytes`, `output file bytes`, `alias index file bytes` or `null`, tab-separated.
inline int run(const char* path) {
    std::ifstream request(path);
    uint32_t block_dim = 1;
    int repeat = 1;
    size_t workspace_bytes = 0;
    std::vector<char> tiling;
    std::vector<Tensor> tensors;
    for (std::string line; std::getline(request, line);) {
        std::istringstream words(line);
        std::string word;
        std::getline(words, word, '\t');
        Tensor tensor{word};
        if (word == "block_dim")
            words >> block_dim;
        else if (word == "repeat")
            words >> repeat;
        else if (word == "workspace")
            words >> workspace_bytes;
        else if (word == "tiling") {
            std::string f;
            std::getline(words, f);
            tiling = read_file(f);
        } else {
            if (word == "alias") {
                words >> tensor.alias;
                words.ignore(1);
            }
            std::getline(words, tensor.file, '\t');
            words >> tensor.bytes;
            tensors.push_back(tensor);
        }
    }
    check(aclInit(nullptr), "aclInit");
    check(aclrtSetDevice(0), "aclrtSetDevice");
    aclrtStream stream = nullptr;
    check(aclrtCreateStream(&stream), "aclrtCreateStream");
    for (Tensor& tensor : tensors)
        if (tensor.role == "input" || tensor.role == "output")
            tensor.device = allocate(tensor.bytes);
    std::vector<uint8_t*> arguments;
    for (Tensor& tensor : tensors) {
        if (tensor.role == "alias") tensor.device = tensors.at(tensor.alias).device;
        arguments.push_back(static_cast<uint8_t*>(tensor.device));
    }
    arguments.push_back(static_cast<uint8_t*>(allocate(workspace_bytes)));
    arguments.push_back(static_cast<uint8_t*>(allocate(tiling.size())));
    upload(arguments.back(), tiling);
    for (int round = 0; round < repeat; ++round) {
        // In-place operators change their inputs: each round starts from the same data.
        for (Tensor& tensor : tensors)
            if (tensor.role == "input") upload(tensor.device, read_file(tensor.file));
        launch_kernel(block_dim, stream, arguments.data());
        check(aclrtSynchronizeStream(stream), "the kernel");
    }
    for (Tensor& tensor : tensors) {
        if (tensor.role != "output" && tensor.role != "alias") continue;
        std::vector<char> data(tensor.bytes);
        check(aclrtMemcpy(data.data(), data.size(), tensor.device, data.size(),
                          ACL_MEMCPY_DEVICE_TO_HOST),
              "aclrtMemcpy from the device");
        std::ofstream(tensor.file, std::ios::binary).write(data.data(), data.size());
    }
    aclrtDestroyStream(stream);
    aclrtResetDevice(0);
    aclFinalize();
    return 0;
}

}  // namespace launcher

int main(int count, char** words) { return count == 2 ? launcher::run(words[1]) : 2; }
