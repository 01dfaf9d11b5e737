// What a program hands over, written down: each call of an operator, and each launch of a kernel,
// is one line of JSON.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iostream>
#include <map>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "absent_files.h"
#include "acl_types.h"

using aclnnStatus = int;
constexpr int ACL_ERROR_NONE = 0, ACLNN_SUCCESS = 0, OK = 0;

enum aclrtMemMallocPolicy {
    ACL_MEM_MALLOC_HUGE_FIRST,
    ACL_MEM_MALLOC_HUGE_ONLY,
    ACL_MEM_MALLOC_NORMAL_ONLY,
    ACL_MEM_MALLOC_HUGE_FIRST_P2P,
};
enum aclrtRunMode { ACL_DEVICE, ACL_HOST };
enum aclrtMemcpyKind {
    ACL_MEMCPY_HOST_TO_HOST,
    ACL_MEMCPY_HOST_TO_DEVICE,
    ACL_MEMCPY_DEVICE_TO_HOST,
    ACL_MEMCPY_DEVICE_TO_DEVICE,
};

struct aclTensor {
    std::vector<int64_t> shape;
    aclDataType dtype;
    const void* data;
};
struct aclScalar {
    std::vector<unsigned char> bytes;
    aclDataType dtype;
};
template <typename Element> struct AclArray {
    std::vector<Element> held;
};
struct aclIntArray : AclArray<int64_t> {};
struct aclFloatArray : AclArray<float> {};
struct aclBoolArray : AclArray<bool> {};
struct aclTensorList : AclArray<const aclTensor*> {};
struct aclScalarList : AclArray<const aclScalar*> {};
struct aclOpExecutor {};
using aclFp16 = uint16_t;
using aclFloat16 = uint16_t;

namespace ascendopt {

constexpr size_t MOST_VALUES = 4096;

struct Buffer {
    size_t bytes;
    int number;
    bool filled;
    bool zeroed = false;
};

// What was allocated, by address.
inline std::map<const char*, Buffer>& memory() {
    static std::map<const char*, Buffer> known;
    return known;
}

// The buffer that an address lies in, and how much of it is behind the address; none: 0.
inline std::pair<Buffer*, size_t> held_at(const void* data) {
    auto* at = static_cast<const char*>(data);
    auto after = memory().upper_bound(at);
    if (after == memory().begin()) return {nullptr, 0};
    --after;
    size_t offset = at - after->first;
    if (offset >= after->second.bytes) return {nullptr, 0};
    return {&after->second, after->second.bytes - offset};
}

inline size_t room(const void* data) { return held_at(data).second; }

struct Row {
    std::string text;

    void separate() {
        if (!text.empty() && text.back() != '[' && text.back() != '{' && text.back() != ':')
            text += ',';
    }
    void word(const std::string& said) {
        separate();
        text += '"';
        for (unsigned char c : said) {
            if (c == '"' || c == '\\') text += '\\';
            if (c < ' ') {
                char code[8];
                std::snprintf(code, sizeof code, "\\u%04x", c);
                text += code;
            } else {
                text += char(c);
            }
        }
        text += '"';
    }
    void null() {
        separate();
        text += "null";
    }
    void key(const char* name) {
        word(name);
        text += ':';
    }
    template <typename Number> void number(Number value) {
        separate();
        if constexpr (std::is_same_v<Number, bool>) {
            text += value ? "true" : "false";
        } else if constexpr (std::is_floating_point_v<Number>) {
            char digits[40];
            std::snprintf(digits, sizeof digits, "%.17g", double(value));
            // JSON has no word for what is no number.
            text += std::isfinite(value) ? digits : "null";
            if (std::isfinite(value) && !std::strpbrk(digits, ".e")) text += ".0";
        } else {
            text += std::to_string(value);
        }
    }
    template <typename Element> void list(const std::vector<Element>& values) {
        separate();
        text += '[';
        for (auto value : values) number(value);
        text += ']';
    }
};

// Compilers have no type of 16 bits for it on every processor.
inline float of_half(uint16_t bits) {
    int exponent = bits >> 10 & 31;
    float fraction = float(bits & 1023) / 1024;
    float size = exponent == 0    ? std::ldexp(fraction, -14)
                 : exponent == 31 ? (fraction == 0 ? INFINITY : NAN)
                                  : std::ldexp(1 + fraction, exponent - 15);
    return bits >> 15 ? -size : size;
}

struct Half {
    uint16_t bits;
    operator float() const { return of_half(bits); }
};

template <typename Element>
using Written = std::conditional_t<std::is_integral_v<Element>, int64_t, double>;

template <typename Element> void numbers(Row& row, const void* data, size_t count) {
    if (count <= MOST_VALUES) {
        std::vector<Element> values(count);
        if (count) std::memcpy(values.data(), data, count * sizeof(Element));
        row.key("values");
        row.list(std::vector<Written<Element>>(values.begin(), values.end()));
        return;
    }
    auto* first = static_cast<const Element*>(data);
    auto [least, most] = std::minmax_element(first, first + count);
    row.key("range");
    row.list(std::vector<Written<Element>>{Written<Element>(*least), Written<Element>(*most)});
}

// Whether what is declared as integers of 32 bits are floats that the program never converted: all
// whole numbers, which no list of integers as large as their bits would be by chance.
inline bool are_floats(const void* data, size_t count) {
    auto* first = static_cast<const float*>(data);
    auto whole = [](float one) {
        return one == std::trunc(one) && std::abs(one) <= 1 << 20 &&
               (one == 0 || std::abs(one) >= 1);
    };
    return std::all_of(first, first + count, whole) &&
           std::any_of(first, first + count, [](float one) { return one != 0; });
}

inline void whole_numbers(Row& row, const void* data, size_t count) {
    if (are_floats(data, count)) return numbers<float>(row, data, count);
    numbers<int32_t>(row, data, count);
}

inline void held(Row& row, aclDataType dtype, const void* data, size_t count, size_t bytes) {
    auto fits = [&](size_t size) { return data && count <= bytes / size; };
    switch (dtype) {
        case ACL_FLOAT: return fits(4) ? numbers<float>(row, data, count) : void();
        case ACL_DOUBLE: return fits(8) ? numbers<double>(row, data, count) : void();
        case ACL_FLOAT16: return fits(2) ? numbers<Half>(row, data, count) : void();
        case ACL_BOOL:
        case ACL_INT8: return fits(1) ? numbers<int8_t>(row, data, count) : void();
        case ACL_UINT8: return fits(1) ? numbers<uint8_t>(row, data, count) : void();
        case ACL_INT16: return fits(2) ? numbers<int16_t>(row, data, count) : void();
        case ACL_UINT16: return fits(2) ? numbers<uint16_t>(row, data, count) : void();
        case ACL_INT32: return fits(4) ? whole_numbers(row, data, count) : void();
        case ACL_UINT32: return fits(4) ? numbers<uint32_t>(row, data, count) : void();
        case ACL_INT64:
        case ACL_UINT64: return fits(8) ? numbers<int64_t>(row, data, count) : void();
        default: return;
    }
}

inline const char* name_of(aclDataType dtype) {
    switch (dtype) {
#define ASCENDOPT_NAME(name, number) \
    case ACL_##name: return #name;
        ASCENDOPT_DTYPES(ASCENDOPT_NAME)
#undef ASCENDOPT_NAME
        default: return "";
    }
}

inline void put(Row& row, const aclTensor* one) {
    if (!one) return row.null();
    row.separate();
    row.text += '{';
    row.key("dtype"), row.word(name_of(one->dtype));
    row.key("shape"), row.list(one->shape);
    size_t count = 1;
    for (int64_t length : one->shape) count *= length < 0 ? 0 : size_t(length);
    held(row, one->dtype, one->data, count, room(one->data));
    row.text += '}';
}

inline void put(Row& row, const aclScalar* one) {
    if (!one) return row.null();
    row.separate();
    row.text += '{';
    row.key("dtype"), row.word(name_of(one->dtype));
    held(row, one->dtype, one->bytes.data(), 1, one->bytes.size());
    row.text += '}';
}

template <typename Value> void field(Row& row, const char* name, const Value& value) {
    row.key(name);
    if constexpr (std::is_array_v<Value>) {
        using Element = std::remove_all_extents_t<Value>;
        if constexpr (std::is_arithmetic_v<Element>) {
            auto* first = reinterpret_cast<const Element*>(&value);
            row.list(std::vector<Written<Element>>(first, first + sizeof(Value) / sizeof(Element)));
        } else {
            row.null();
        }
    } else if constexpr (std::is_arithmetic_v<Value>) {
        row.number(value);
    } else if constexpr (std::is_enum_v<Value>) {
        row.number(int64_t(value));
    } else {
        row.null();
    }
}

inline void ascendopt_fields(Row&, ...) {}

template <typename Value> void argument(Row& row, Value value) {
    using Plain = std::remove_cv_t<std::remove_pointer_t<Value>>;
    row.separate();
    row.text += '{';
    if constexpr (std::is_same_v<Value, std::nullptr_t>) {
        row.key("null"), row.number(true);
    } else if constexpr (std::is_pointer_v<Value>) {
        const auto* at = value;
        if (!at) {
            row.key("null"), row.number(true);
        } else if constexpr (std::is_same_v<Plain, aclTensor>) {
            row.key("tensor"), put(row, at);
        } else if constexpr (std::is_same_v<Plain, aclScalar>) {
            row.key("scalar"), put(row, at);
        } else if constexpr (std::is_same_v<Plain, aclTensorList>) {
            row.key("tensors"), row.separate(), row.text += '[';
            for (auto* one : at->held) put(row, one);
            row.text += ']';
        } else if constexpr (std::is_same_v<Plain, aclScalarList>) {
            row.key("scalars"), row.separate(), row.text += '[';
            for (auto* one : at->held) put(row, one);
            row.text += ']';
        } else if constexpr (std::is_same_v<Plain, aclIntArray> ||
                             std::is_same_v<Plain, aclFloatArray> ||
                             std::is_same_v<Plain, aclBoolArray>) {
            row.key("array"), row.list(at->held);
        } else if (auto [buffer, bytes] = held_at(at); buffer) {
            row.key("buffer"), row.separate(), row.text += '{';
            row.key("number"), row.number(buffer->number);
            row.key("bytes"), row.number(bytes);
            row.key("filled"), row.number(buffer->filled);
            row.key("zeroed"), row.number(buffer->zeroed);
            if (buffer->filled) numbers<uint8_t>(row, at, bytes);
            row.text += '}';
        } else if constexpr (std::is_same_v<Plain, char>) {
            row.key("text"), row.word(at);
        }
    } else if constexpr (std::is_class_v<Value>) {
        row.key("fields"), row.separate(), row.text += '{';
        // A program's own structure is described behind its text, where its name is known.
        ascendopt_fields(row, value);
        row.text += '}';
        if constexpr (std::is_trivially_copyable_v<Value> && sizeof(Value) <= 4096) {
            std::vector<Written<uint32_t>> words;
            for (size_t at = 0; at < sizeof(Value); at += 4) {
                uint32_t word = 0;
                std::memcpy(&word, reinterpret_cast<const char*>(&value) + at,
                            std::min<size_t>(4, sizeof(Value) - at));
                words.emplace_back(word);
            }
            row.key("words"), row.list(words);
        }
    } else if constexpr (std::is_enum_v<Value>) {
        row.key("number"), row.number(int64_t(value));
    } else if constexpr (std::is_arithmetic_v<Value>) {
        row.key("number"), row.number(value);
    }
    row.text += '}';
}

inline void write(const Row& row) {
    std::ofstream("calls.jsonl", std::ios::app) << row.text << '\n';
}

inline void size_found(uint64_t* size) { *size = 0; }
template <typename Other> void size_found(const Other&) {}
inline void executor_found(aclOpExecutor** executor) {
    static aclOpExecutor only;
    *executor = &only;
}
template <typename Other> void executor_found(const Other&) {}

// The first of an operator's two calls, which has all that it is given. It is written at once:
// what the program does later may end it.
template <typename... Arguments>
aclnnStatus called(const char* name, const char* spelled, Arguments... arguments) {
    Row row;
    row.text += '{';
    row.key("name"), row.word(name);
    row.key("spelled"), row.word(spelled);
    row.key("arguments"), row.text += '[';
    (argument(row, arguments), ...);
    row.text += "]}";
    write(row);
    (size_found(arguments), ...);
    (executor_found(arguments), ...);
    return ACL_SUCCESS;
}

// The second of them: nothing is computed.
inline aclnnStatus executed(...) { return ACL_SUCCESS; }

// What the device's compiler calls a type of a program.
template <typename Type> constexpr const char* type_name = nullptr;
template <> constexpr const char* type_name<float> = "float";
template <> constexpr const char* type_name<int8_t> = "int8_t";
template <> constexpr const char* type_name<uint8_t> = "uint8_t";
template <> constexpr const char* type_name<int16_t> = "int16_t";
template <> constexpr const char* type_name<uint16_t> = "uint16_t";
template <> constexpr const char* type_name<int32_t> = "int32_t";
template <> constexpr const char* type_name<uint32_t> = "uint32_t";
template <> constexpr const char* type_name<int64_t> = "int64_t";
template <> constexpr const char* type_name<uint64_t> = "uint64_t";

// A template argument of a launch: the number that it is, or its type. A function that launches for
// several types spells its own parameter.
template <auto number> std::string part(const char*) {
    return std::to_string(int64_t(number)) + ",";
}
template <typename Type> std::string part(const char* spelled) {
    return std::string(type_name<Type> ? type_name<Type> : spelled) + ",";
}

// A launch of a kernel.
template <typename Blocks, typename... Arguments>
void launched(const char* name, const std::string& parameters, Blocks blocks,
              Arguments... arguments) {
    Row row;
    row.text += '{';
    row.key("name"), row.word(name);
    row.key("template"), row.word(parameters);
    row.key("blocks"), row.number(int64_t(blocks));
    row.key("arguments"), row.text += '[';
    (argument(row, arguments), ...);
    row.text += "]}";
    write(row);
}

template <typename Blocks, typename Stream, typename... Arguments>
aclError launched_in(const char* name, Blocks blocks, Stream, Arguments... arguments) {
    launched(name, "", blocks, arguments...);
    return ACL_SUCCESS;
}

}  // namespace ascendopt

#define ASCENDOPT_CALLED(name, ...) ascendopt::called(#name, #__VA_ARGS__, __VA_ARGS__)
