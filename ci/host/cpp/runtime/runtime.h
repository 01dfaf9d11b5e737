// Inside of the host program: the request it reads, the answer it writes.
#pragma once

#include <string>
#include <vector>

#include "detail/context.h"
#include "detail/op_def.h"

namespace host {
// The chip of the request being answered.
fe::PlatFormInfos& current_platform();

// Log lines since the start, "error: …" and so on, for the answer.
std::vector<std::string>& log_lines();

// What a template tiling key stands for, as members of the JSON answer.
std::string template_choice(uint64_t key);

struct TensorRequest {
    int dtype = 0;
    int format = 2;
    std::vector<int64_t> dims;
    bool has_shape = true;
    std::vector<uint8_t> data;
};
struct AttrRequest {
    std::string name;
    std::string kind;
    std::vector<std::string> values;
};
struct Request {
    std::string op_type;
    std::map<std::string, std::string> facts;
    bool deterministic = false;
    uint8_t filling = 0;  // what the tiling data hold before the tiling
    std::vector<std::vector<TensorRequest>> inputs, outputs;
    std::vector<AttrRequest> attrs;
};

// Reads the first requests of a file; throws std::runtime_error with a sentence when it cannot.
std::vector<Request> read_requests(const std::string& path, size_t most);

// What a request does not say and no tiling may go by: another number gives the node another name
// and the tiling data more room. 0 in a launch.
unsigned& surroundings();

// The JSON answers.
std::string describe();
std::string tile(const Request& request);
std::string infer(const Request& request);
// `tile` with a digest in place of what was decided, and without the log.
// `compared`: with the comparisons, where they are watched.
std::string tile_in_short(const Request& request, bool compared);

// What the comparisons of watched host sources saw, as a JSON list of rows.
std::string decisions_seen();

// The member of an answer with what they saw last since `forget_steps`, in the order in which they
// were met: where a tiling refuses a request, the end of it. Empty for programs that nobody
// watches.
std::string steps_seen();
void forget_steps();

// Asks all requests again and again; see README.md.
int survey(char** argv);

// From now on, the program says where a signal ends it.
void tell_crashes();

// Numbers that did not fit the field of the tiling data that they were given to, as a JSON list.
std::string narrowed_seen();

// What the host side has asked that is odd, as a JSON list.
std::string odd_seen();

// Where the host side has asked for attributes and tensors, as a JSON list.
std::string asked_seen();

// `text` as a JSON string, quotes included.
std::string quoted(const std::string& text);
// A JSON array of what `word` makes of the items.
template <class Items, class Word> std::string list(const Items& items, Word word) {
    std::string out = "[";
    for (const auto& item : items) out += (out.size() > 1 ? "," : "") + word(item);
    return out + "]";
}
}  // namespace host
