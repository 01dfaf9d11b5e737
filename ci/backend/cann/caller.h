// Calls one operator of an installed package through aclnn, as a framework does.
// The generated unit defines `prepare` and `execute` for the operator's own pair of functions.
#pragma once

#include <aclnn/acl_meta.h>

#include "runtime.h"

#include <type_traits>

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
    aclScalar* scalar(size_t index) const {
        const Host& host = hosts.at(index).at(0);
        std::vector<char> data = read_file(host.file);
        return aclCreateScalar(data.data(), host.dtype);
    }
    aclScalarList* scalars(size_t index) const {
        std::vector<const aclScalar*> found;
        for (const Host& host : hosts.at(index)) {
            std::vector<char> data = read_file(host.file);
            size_t width = data.size() / static_cast<size_t>(host.count);
            for (int64_t i = 0; i < host.count; ++i)
                found.push_back(aclCreateScalar(data.data() + i * width, host.dtype));
        }
        return aclCreateScalarList(found.data(), found.size());
    }
    // Values of an input that the tiling reads; null where it is absent.
    template <typename Array> Array* values(size_t index) const {
        if (hosts.at(index).empty()) return nullptr;
        std::vector<char> data = read_file(hosts[index][0].file);
        uint64_t count = static_cast<uint64_t>(hosts[index][0].count);
        if constexpr (std::is_same_v<Array, aclIntArray>) {
            std::vector<int64_t> wide;
            bool is_wide = hosts[index][0].dtype == 9;  // ACL_INT64; else ACL_INT32
            for (uint64_t i = 0; i < count; ++i)
                wide.push_back(is_wide ? reinterpret_cast<int64_t*>(data.data())[i]
                                       : reinterpret_cast<int32_t*>(data.data())[i]);
            return aclCreateIntArray(wide.data(), count);
        } else if constexpr (std::is_same_v<Array, aclFloatArray>) {
            return aclCreateFloatArray(reinterpret_cast<float*>(data.data()), count);
        } else {
            return aclCreateBoolArray(reinterpret_cast<bool*>(data.data()), count);
        }
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

    // Where the values of an input lie on the host.
    struct Host {
        std::string file;
        aclDataType dtype;
        int64_t count;
    };

    std::vector<std::vector<aclTensor*>> tensors;
    std::vector<std::vector<Host>> hosts;
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
        if (what == "parameter") {
            arguments.tensors.emplace_back();
            arguments.hosts.emplace_back();
        }
        if (what != "input" && what != "output" && what != "both") continue;
        std::vector<int64_t> dims = numbers(words.at(3)), strides(dims.size(), 1);
        for (size_t i = dims.size(); i-- > 1;) strides[i - 1] = strides[i] * dims[i];
        int64_t count = 1;
        for (int64_t dim : dims) count *= dim;
        auto dtype = static_cast<aclDataType>(std::stoi(words.at(1)));
        arguments.hosts.back().push_back({words.at(5), dtype, count});
        Place place{words.at(5), std::stoull(words.at(4))};
        place.device = allocate(place.bytes);
        place.input = what != "output";
        place.output = what != "input";
        arguments.tensors.back().push_back(
            aclCreateTensor(dims.data(), dims.size(), dtype, strides.data(), 0,
                            static_cast<aclFormat>(std::stoi(words.at(2))), dims.data(),
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
