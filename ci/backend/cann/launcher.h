// Launches one kernel on a real NPU with a tiling that was asked for on the host.
// Compiled together with the kernel by bisheng; the generated unit defines `launch_kernel`.
#pragma once

#include "runtime.h"

void launch_kernel(uint32_t block_dim, void* stream, uint8_t** arguments);

namespace npu {

struct Tensor {
    std::string role, file;
    size_t bytes = 0;
    size_t alias = 0;
    void* device = nullptr;
};

// Lines: `device n`, `block_dim n`, `repeat n`, `workspace bytes`, `tiling file`, and for each
// tensor `input file bytes`, `output file bytes`, `alias index file bytes` or `null`.
inline int run(const char* path) {
    std::ifstream request(path);
    uint32_t block_dim = 1;
    int32_t device = 0;
    int repeat = 1;
    size_t workspace_bytes = 0;
    std::vector<char> tiling;
    std::vector<Tensor> tensors;
    for (std::string line; std::getline(request, line);) {
        std::vector<std::string> words = words_of(line);
        const std::string& what = words.at(0);
        if (what == "device")
            device = std::stoi(words.at(1));
        else if (what == "block_dim")
            block_dim = static_cast<uint32_t>(std::stoul(words.at(1)));
        else if (what == "repeat")
            repeat = std::stoi(words.at(1));
        else if (what == "workspace")
            workspace_bytes = std::stoull(words.at(1));
        else if (what == "tiling")
            tiling = read_file(words.at(1));
        else if (what == "null")
            tensors.push_back({what});
        else if (what == "alias")
            tensors.push_back(
                {what, words.at(2), std::stoull(words.at(3)), std::stoull(words.at(1))});
        else
            tensors.push_back({what, words.at(1), std::stoull(words.at(2))});
    }
    Session session(device);
    std::vector<uint8_t*> arguments;
    for (Tensor& tensor : tensors) {
        if (tensor.role == "alias")
            tensor.device = tensors.at(tensor.alias).device;
        else if (tensor.role != "null")
            tensor.device = allocate(tensor.bytes);
        arguments.push_back(static_cast<uint8_t*>(tensor.device));
    }
    arguments.push_back(static_cast<uint8_t*>(allocate(workspace_bytes)));
    arguments.push_back(static_cast<uint8_t*>(allocate(tiling.size())));
    upload(arguments.back(), tiling);
    for (int round = 0; round < repeat; ++round) {
        // In-place operators change their inputs: each round starts from the same data.
        for (Tensor& tensor : tensors)
            if (tensor.role == "input") upload(tensor.device, read_file(tensor.file));
        launch_kernel(block_dim, session.stream(), arguments.data());
        session.wait();
    }
    for (const Tensor& tensor : tensors)
        if (tensor.role == "output" || tensor.role == "alias")
            download(tensor.file, tensor.device, tensor.bytes);
    return 0;
}

}  // namespace npu

int main(int count, char** words) { return count == 2 ? npu::run(words[1]) : 2; }
