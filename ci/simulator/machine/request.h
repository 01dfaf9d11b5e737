// What the parent asks for: the launch's arguments as files, in kernel-parameter order.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace dav {

// One tensor: an argument of its own, or an item of a tensor list.
struct TensorFile {
    std::string file;
    uint64_t bytes = 0;
    std::vector<uint64_t> shape;  // of list items
    uint8_t* address = nullptr;
    uint32_t element = 0;  // bytes of one; 0: unknown
    bool shared = false;   // an output that lies in its file
};

struct Argument {
    enum class Role { INPUT, OUTPUT, ALIAS, NONE } role = Role::NONE;
    bool list = false;
    TensorFile tensor;              // when it is no list
    std::vector<TensorFile> items;  // when it is one
    size_t alias_of = 0;
    uint8_t* address = nullptr;  // what the kernel gets
};

// Other constants that the launch is timed with too, for what they change in its time.
struct Member {
    std::string name;
    std::vector<std::pair<std::string, double>> constants;
};

struct Request {
    std::string constants;
    std::string tiling;
    std::string report;
    std::string timeline;
    int block_dim = 1;
    int cubes_per_block = 0;
    int vectors_per_block = 1;
    uint64_t tiling_key = 0;
    bool auto_sync = true;
    bool true_offsets = false;  // front door 2: UB addresses count from 0
    uint64_t workspace = 0;
    uint64_t asked_workspace = 0;  // what the host side asks for, which may be less
    uint8_t poison = 0xff;         // see Launch
    uint8_t behind = 0xff;         // see Launch
    bool elsewhere = false;
    uint64_t over_read = 32;
    bool checked = false;
    bool addresses = false;  // see Launch
    std::vector<Argument> arguments;
    std::vector<Member> members;
};

// Reads the request; a malformed line ends the launch as a launch error (or with exit code 2 when
// no report path is known yet).
Request read_request(const std::string& path);

}  // namespace dav
