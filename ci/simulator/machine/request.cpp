#include "request.h"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>

namespace dav {
namespace {

[[noreturn]] void malformed(const std::string& line) {
    std::fprintf(stderr, "The launch request has a line that is not understood: %s\n",
                 line.c_str());
    _exit(2);
}

std::vector<std::string> split(const std::string& line, char separator) {
    std::vector<std::string> fields;
    std::stringstream stream(line);
    std::string field;
    while (std::getline(stream, field, separator)) fields.push_back(field);
    return fields;
}

uint64_t number(const std::string& text, const std::string& line) {
    char* end = nullptr;
    const uint64_t value = std::strtoull(text.c_str(), &end, 0);
    if (text.empty() || *end != '\0') malformed(line);
    return value;
}

double real(const std::string& text, const std::string& line) {
    char* end = nullptr;
    const double value = std::strtod(text.c_str(), &end);
    if (text.empty() || *end != '\0') malformed(line);
    return value;
}

Argument::Role role_of(const std::string& text, const std::string& line) {
    if (text == "input") return Argument::Role::INPUT;
    if (text == "output") return Argument::Role::OUTPUT;
    malformed(line);
}

Argument read_argument(const std::vector<std::string>& fields, const std::string& line) {
    Argument argument;
    if (fields.size() == 2 && fields[1] == "null") return argument;
    if (fields.size() == 5 && fields[1] == "alias") {
        argument.role = Argument::Role::ALIAS;
        argument.alias_of = number(fields[2], line);
        argument.tensor = {fields[3], number(fields[4], line), {}, nullptr};
        return argument;
    }
    if (fields.size() != 5) malformed(line);
    argument.role = role_of(fields[1], line);
    argument.tensor = {fields[2], number(fields[3], line), {}, nullptr};
    argument.tensor.element = static_cast<uint32_t>(number(fields[4], line));
    return argument;
}

}  // namespace

Request read_request(const std::string& path) {
    std::ifstream file(path);
    if (!file) malformed("(cannot read " + path + ")");
    Request request;
    std::string line;
    while (std::getline(file, line)) {
        if (line.empty()) continue;
        const std::vector<std::string> fields = split(line, '\t');
        const std::string& word = fields[0];
        if (fields.size() < 2) malformed(line);
        if (word == "constants") {
            request.constants = fields[1];
        } else if (word == "block_dim") {
            request.block_dim = static_cast<int>(number(fields[1], line));
        } else if (word == "cores" && fields.size() == 3) {
            request.cubes_per_block = static_cast<int>(number(fields[1], line));
            request.vectors_per_block = static_cast<int>(number(fields[2], line));
        } else if (word == "tiling_key") {
            request.tiling_key = number(fields[1], line);
        } else if (word == "auto_sync") {
            request.auto_sync = number(fields[1], line) != 0;
        } else if (word == "true_offsets") {
            request.true_offsets = number(fields[1], line) != 0;
        } else if (word == "tiling") {
            request.tiling = fields[1];
        } else if (word == "workspace") {
            request.workspace = number(fields[1], line);
        } else if (word == "asked_workspace") {
            request.asked_workspace = number(fields[1], line);
        } else if (word == "poison") {
            request.poison = static_cast<uint8_t>(number(fields[1], line));
        } else if (word == "behind") {
            request.behind = static_cast<uint8_t>(number(fields[1], line));
        } else if (word == "elsewhere") {
            request.elsewhere = number(fields[1], line) != 0;
        } else if (word == "over_read") {
            request.over_read = number(fields[1], line);
        } else if (word == "checked") {
            request.checked = number(fields[1], line) != 0;
        } else if (word == "addresses") {
            request.addresses = number(fields[1], line) != 0;
        } else if (word == "report") {
            request.report = fields[1];
        } else if (word == "timeline") {
            request.timeline = fields[1];
        } else if (word == "member" && fields.size() % 2 == 0) {
            Member member{fields[1], {}};
            for (size_t i = 2; i < fields.size(); i += 2)
                member.constants.emplace_back(fields[i], real(fields[i + 1], line));
            request.members.push_back(member);
        } else if (word == "arg") {
            request.arguments.push_back(read_argument(fields, line));
        } else if (word == "list" && fields.size() == 3) {
            Argument argument;
            argument.list = true;
            argument.role = role_of(fields[1], line);
            request.arguments.push_back(argument);
        } else if (word == "item" && fields.size() >= 3 && !request.arguments.empty() &&
                   request.arguments.back().list) {
            TensorFile item{fields[1], number(fields[2], line), {}, nullptr};
            if (fields.size() > 3)
                for (const std::string& extent : split(fields[3], ','))
                    item.shape.push_back(number(extent, line));
            request.arguments.back().items.push_back(item);
        } else {
            malformed(line);
        }
    }
    return request;
}

}  // namespace dav
