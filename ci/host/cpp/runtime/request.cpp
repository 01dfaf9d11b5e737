// Reads a tiling request: tab-separated records, one a line (format in README.md).
#include <fstream>
#include <sstream>
#include <stdexcept>

#include "runtime/runtime.h"

namespace host {
namespace {
std::vector<std::string> split(const std::string& text, char separator) {
    std::vector<std::string> parts;
    std::string part;
    std::istringstream stream(text);
    while (std::getline(stream, part, separator)) parts.push_back(part);
    return parts;
}

int digit(char c) { return c <= '9' ? c - '0' : c - 'a' + 10; }

std::vector<uint8_t> from_hex(const std::string& text) {
    std::vector<uint8_t> bytes;
    bytes.reserve(text.size() / 2);
    for (size_t i = 0; i + 1 < text.size(); i += 2) {
        bytes.push_back(static_cast<uint8_t>(digit(text[i]) * 16 + digit(text[i + 1])));
    }
    return bytes;
}

TensorRequest read_tensor(const std::vector<std::string>& fields) {
    TensorRequest tensor;
    tensor.dtype = std::stoi(fields.at(1));
    tensor.format = std::stoi(fields.at(2));
    const std::string dims = fields.size() > 3 ? fields[3] : "";
    tensor.has_shape = dims != "?";
    if (tensor.has_shape) {
        for (const std::string& d : split(dims, ',')) tensor.dims.push_back(std::stoll(d));
    }
    if (fields.size() > 4) tensor.data = from_hex(fields[4]);
    return tensor;
}

std::string unescaped(const std::string& text) {
    std::string plain;
    for (size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '\\' && i + 1 < text.size()) {
            ++i;
            plain += text[i] == 't' ? '\t' : text[i] == 'n' ? '\n' : text[i];
        } else {
            plain += text[i];
        }
    }
    return plain;
}
}  // namespace

std::vector<Request> read_requests(const std::string& path, size_t most) {
    std::ifstream stream(path);
    if (!stream) throw std::runtime_error("The request " + path + " cannot be read.");
    std::vector<Request> requests;
    std::vector<std::vector<TensorRequest>>* current = nullptr;
    std::string line;
    while (std::getline(stream, line)) {
        const std::vector<std::string> fields = split(line, '\t');
        if (fields.empty()) continue;
        const std::string& kind = fields[0];
        if (kind == "op_type") {
            if (requests.size() == most) break;
            requests.emplace_back();
            requests.back().op_type = fields.at(1);
            current = nullptr;
            continue;
        }
        if (requests.empty()) {
            throw std::runtime_error("The request does not begin with an op_type.");
        }
        Request& request = requests.back();
        if (kind == "fact") {
            request.facts[fields.at(1)] = fields.at(2);
        } else if (kind == "deterministic") {
            request.deterministic = fields.at(1) == "1";
        } else if (kind == "filling") {
            request.filling = static_cast<uint8_t>(std::stoi(fields.at(1)));
        } else if (kind == "input" || kind == "output") {
            current = kind == "input" ? &request.inputs : &request.outputs;
            current->emplace_back();
        } else if (kind == "tensor") {
            if (current == nullptr) {
                throw std::runtime_error("The request has a tensor before any input.");
            }
            current->back().push_back(read_tensor(fields));
        } else if (kind == "attr") {
            AttrRequest attr{fields.at(1), fields.at(2), {}};
            if (attr.kind == "string") {
                attr.values.push_back(unescaped(fields.size() > 3 ? fields[3] : ""));
            } else if (fields.size() > 3) {
                attr.values = split(fields[3], ',');
            }
            request.attrs.push_back(std::move(attr));
        } else {
            throw std::runtime_error("The request has the unknown record '" + kind + "'.");
        }
    }
    return requests;
}
}  // namespace host
