// Calls one operator of an installed package through aclnn, as a framework does.
// The generated unit defines `prepare` and `execute` for the operator's own pair of functions.
#pragma once

#include <aclnn/acl_meta.h>

#include "runtime.h"

namespace npu {

// What a call is given, in the order of the operator's definition: tensors and lists of them,
// attributes. An optional one that is absent is null.
class Arguments {
public:
    aclTensor* tensor(size_t index) const {
        return tensors.at(index).empty() ? nullptr : tensors[index][0];
    }
    aclTensorList* list(size_t index) const {
        return aclCreateTensorList(tensors.at(index).data(), tensors[index].size());
    }
    int64_t integer(size_t index) const { return std::stoll(attributes.at(index)); }
    double real(size_t index) const { return std::stod(attributes.at(index)); }
    bool truth(size_t index) const { return attributes.at(index) == "1"; }
    char* text(size_t index) const { return const_cast<char*>(attributes.at(index).c_str()); }
    aclIntArray* integers(size_t index) const {
        std::vector<int64_t> values;
        for (const std::string& one : parts(index)) values.push_back(std::stoll(one));
        return aclCreateIntArray(values.data(), values.size());
    }
    aclFloatArray* reals(size_t index) const {
        std::vector<float> values;
        for (const std::string& one : parts(index)) values.push_back(std::stof(one));
        return aclCreateFloatArray(values.data(), values.size());
    }
    aclBoolArray* truths(size_t index) const {
        std::vector<char> values;
        for (const std::string& one : parts(index)) values.push_back(one == "1");
        return aclCreateBoolArray(reinterpret_cast<const bool*>(values.data()), values.size());
    }

    std::vector<std::vector<aclTensor*>> tensors;
    std::vector<std::string> attributes;

private:
    std::vector<std::string> parts(size_t index) const {
        std::vector<std::string> found;
        std::istringstream stream(attributes.at(index));
        for (std::string part; std::getline(stream, part, ',');) found.push_back(part);
        return found;
    }
};

aclnnStatus prepare(const Arguments& arguments, uint64_t* bytes, aclOpExecutor** executor);
aclnnStatus execute(void* workspace, uint64_t bytes, aclOpExecutor* executor, aclrtStream stream);

struct Place {
    std::string file;
    size_t bytes = 0;
    void* device = nullptr;
    bool input = false, output = false;
};

inline std::vector<int64_t> numbers(const std::string& text) {
    std::vector<int64_t> found;
    std::istringstream stream(text);
    for (std::string part; std::getline(stream, part, ',');) found.push_back(std::stoll(part));
    return found;
}

inline void accepted(aclnnStatus status, const char* what) {
    if (status == 0) return;
    const char* said = aclGetRecentErrMsg();
    std::fprintf(stderr, "%s failed with error %d: %s\n", what, static_cast<int>(status),
                 said ? said : "");
    std::_Exit(5);
}

// Lines: `device n`, `repeat n`, `attribute value`, `parameter` before each input and output of the
// definition, and for each of its tensors `input|output|both dtype format dims bytes file`.
inline int run(const char* path) {
    std::ifstream request(path);
    std::vector<std::vector<std::string>> lines;
    int32_t device = 0;
    int repeat = 1;
    for (std::string line; std::getline(request, line);) {
        lines.push_back(words_of(line));
        if (lines.back().at(0) == "device") device = std::stoi(lines.back().at(1));
        if (lines.back().at(0) == "repeat") repeat = std::stoi(lines.back().at(1));
    }
    Session session(device);
    Arguments arguments;
    std::vector<Place> places;
    for (const std::vector<std::string>& words : lines) {
        const std::string& what = words[0];
        if (what == "attribute") arguments.attributes.push_back(words.size() > 1 ? words[1] : "");
        if (what == "parameter") arguments.tensors.emplace_back();
        if (what != "input" && what != "output" && what != "both") continue;
        std::vector<int64_t> dims = numbers(words.at(3)), strides(dims.size(), 1);
        for (size_t i = dims.size(); i-- > 1;) strides[i - 1] = strides[i] * dims[i];
        Place place{words.at(5), std::stoull(words.at(4))};
        place.device = allocate(place.bytes);
        place.input = what != "output";
        place.output = what != "input";
        arguments.tensors.back().push_back(aclCreateTensor(
            dims.data(), dims.size(), static_cast<aclDataType>(std::stoi(words.at(1))),
            strides.data(), 0, static_cast<aclFormat>(std::stoi(words.at(2))), dims.data(),
            dims.size(), place.device));
        places.push_back(place);
    }
    for (int round = 0; round < repeat; ++round) {
        for (const Place& place : places)
            if (place.input) upload(place.device, read_file(place.file));
        uint64_t bytes = 0;
        aclOpExecutor* executor = nullptr;
        accepted(prepare(arguments, &bytes, &executor), "GetWorkspaceSize");
        void* workspace = bytes ? allocate(bytes) : nullptr;
        accepted(execute(workspace, bytes, executor, session.stream()), "the operator");
        session.wait();
        if (workspace) check(aclrtFree(workspace), "aclrtFree");
    }
    for (const Place& place : places)
        if (place.output) download(place.file + ".out", place.device, place.bytes);
    return 0;
}

}  // namespace npu

int main(int count, char** words) { return count == 2 ? npu::run(words[1]) : 2; }
